// SPDX-License-Identifier: MIT
// The targets that parse what the tool is given.
#include <algorithm>
#include <cmath>

#include "fuzz/parsers.h"
#include "fuzz/promise.h"
#include "plan/device/device_caps.h"
#include "tools/vkgemm/assembly/bound.h"
#include "tools/vkgemm/report/bench_saved.h"
#include "tools/vkgemm/report/cubin.h"
#include "tools/vkgemm/report/device_page.h"

namespace vkgemm::test::fuzz {
namespace {

using namespace vkgemm::tool;

/// The line of a case means the same case again, and its target rate can be drawn.
void check_case(const Case& c) {
    const auto again = parse_case(c.text);
    promise(again && again->text == c.text, "the line of a case is written the same again");
    promise(std::isfinite(c.target) && c.target >= 0, "a rate that is aimed at is a number");
}

void check_cases(const Result<std::vector<Case>>& cases) {
    if (!cases) return promise(!cases.status().text.empty(), "a refusal says why");
    promise(!cases->empty(), "what holds no problem is refused");
    for (const Case& c : *cases) check_case(c);
}

}  // namespace

void suite(std::string_view text) {
    current = text;
    check_cases(parse_suite(text, "suite"));
}

void shapes(std::string_view text) {
    current = text;
    const size_t first = std::min(text.find('\n'), text.size()), from = std::min(first + 1, text.size());
    const size_t second = std::min(text.find('\n', from), text.size()), rest = std::min(second + 1, text.size());
    check_cases(parse_shapes(text.substr(rest), std::string(text.substr(0, first)),
                             std::string(text.substr(from, second - from))));
}

void bench(std::string_view text) {
    current = text;
    const auto saved = parse_bench(text);
    if (!saved) return promise(!saved.status().text.empty(), "a refusal says why");
    for (const Case& c : saved->cases) check_case(c);
    for (const BenchResult& r : saved->results) {
        promise(std::ranges::any_of(saved->cases, [&](const Case& c) { return &c == r.given; }), "a result has a case");
        promise(std::isfinite(r.m.flops_per_second()) && std::isfinite(r.m.flops_per_second_in_a_row()) &&
                    std::isfinite(r.roof.limit),
                "rates are numbers");
        promise(r.m.samples.size() == r.m.times.runs, "times are of the samples");
    }
}

void cubin(std::string_view text) {
    current = text;
    const auto functions = read_cubin({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
    if (!functions) return promise(!functions.status().text.empty(), "a refusal says why");
    for (const CubinFunction& f : *functions) {
        promise(f.registers > 0, "a function has registers");
        promise(f.name.size() < text.size(), "a name is of the file");
    }
}

void assembly(std::string_view text) {
    current = text;
    for (const Dialect& d : dialects) {
        const Program program = d.read(text);
        for (const Jump& jump : program.jumps)
            promise(jump.from < program.instructions.size() && jump.to <= program.instructions.size(),
                    "a jump is from an instruction to another, or to the end");
        const std::vector<Instruction> loop = inner_loop(program);
        promise(loop.size() <= program.instructions.size(), "a loop is a part of the program");
        for (const char* name : {"RDNA3", "Ampere"}) {
            const auto bound = bound_of(loop, *find_architecture(name), 32);
            if (bound) promise(std::isfinite(bound->cycles) && bound->peak_part > 0, "a bound is a number");
        }
    }
}

void device_report(std::string_view text) {
    current = text;
    const auto unreadable = [](std::string_view line) -> std::string {
        const auto caps = plan::parse_device_caps(line);
        return caps ? "" : std::string(caps.status().text);
    };
    const ReadReport read = read_report(text, unreadable);
    for (const std::string& problem : read.problems)
        promise(problem.starts_with("line ") && problem.find(": ") != std::string::npos, "a problem has a line");
    if (!read.problems.empty()) return;
    const std::string written = report_text(read.report);
    const ReadReport again = read_report(written, unreadable);
    promise(again.problems.empty() && report_text(again.report) == written, "a report is written the same again");
    const std::string link = issue_link(read.report, "https://example.org/a/b");
    promise(link.size() <= 8000 && link.find_first_of("\"<> \n") == std::string::npos, "a link is an address");
    const std::string page = device_page(read.report, standings(read.report, {}), link);
    promise(page.find("nan") == std::string::npos || written.find("nan") != std::string::npos, "a page has numbers");
}

}  // namespace vkgemm::test::fuzz
