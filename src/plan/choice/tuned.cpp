// SPDX-License-Identifier: MIT
#include "plan/choice/tuned.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "plan/base/string_util.h"
#include "plan/choice/select.h"
#include "plan/problem/problem_text.h"

namespace vkgemm::plan {
namespace {

using std::string;
using std::string_view;

Refusal wrong_row(size_t line, const string& why) {
    return {VKGEMM_ERROR_PARSE, "tuned rows, line " + std::to_string(line) + ": " + why};
}

// The fields of a line; those beyond the fourth are counted, not kept.
struct Fields {
    std::array<string_view, 4> text;
    size_t count = 0;
};
Fields fields_of(string_view line) {
    Fields f;
    for (bool more = true; more; ++f.count) {
        const size_t bar = line.find('|');
        if (f.count < f.text.size()) f.text[f.count] = trimmed(line.substr(0, bar));
        more = bar != string_view::npos;
        if (more) line.remove_prefix(bar + 1);
    }
    return f;
}

Result<TunedRow> read_row(string_view line, size_t number) {
    const Fields f = fields_of(line);
    if (f.count != f.text.size())
        return wrong_row(number, "a row is DEVICE | PROBLEM | KERNEL | TILE, and '" + string(line) + "' has " +
                                     std::to_string(f.count) + (f.count == 1 ? " field" : " fields"));
    const auto& [device, problem, kernel, tile] = f.text;
    if (device.empty()) return wrong_row(number, "the device is missing: a part of its name, as in NVIDIA H200");
    if (kernel.empty()) return wrong_row(number, "the kernel is missing; 'vkgemm kernels' lists them");
    const Result<ProblemText> words = parse_problem(problem);
    if (!words) return wrong_row(number, "in the problem, " + words.status().text);
    const Result<Problem> completed = complete(words->problem);
    if (!completed) return wrong_row(number, "in the problem, " + completed.status().text);
    if (is_empty(*completed)) return wrong_row(number, "the problem is empty: m, n or batch is 0");
    if (const Result<Tile> named = with_constants({}, tile); !named) return wrong_row(number, named.status().text);
    return TunedRow{string(device), string(kernel), string(tile), normalise(*completed).problem, string(line), {}};
}

// Why the row's kernel cannot do the row's own problem on this device; "": it can.
string why_skipped(const TunedRow& row, const DeviceCaps& dev) {
    const Kernel* kernel = find_kernel(row.kernel);
    if (!kernel) return unknown_kernel(row.kernel);
    const Result<Binding> binding = choose_binding(dev, {});
    if (!binding) return binding.status().text;
    const auto why = unfit(*kernel, *with_constants(kernel->tile, row.tile), dev, row.problem, *binding);
    return why ? why->text : "";
}

bool within_reach(uint64_t a, uint64_t b) {
    return 2 * double(std::max(a, b)) <= 3 * double(std::min(a, b));  // 1.5, without rounding
}

bool same_class(const Problem& a, const Problem& b, uint32_t alignment_b) {
    if (a.a.type != b.a.type || a.b.type != b.b.type || a.d.type != b.d.type || a.accumulate != b.accumulate ||
        a.accuracy != b.accuracy || a.a.layout != b.a.layout || a.b.layout != b.b.layout ||
        (a.batch > 1) != (b.batch > 1))
        return false;
    const auto of_a = operands(a), of_b = operands(b);
    for (size_t i = 0; i < 2; ++i)
        if (is_wide(of_a[i], Request{}.operand_alignment) != is_wide(of_b[i], alignment_b)) return false;
    return true;
}

}  // namespace

Result<std::vector<TunedRow>> parse_tuned(string_view text) {
    std::vector<TunedRow> out;
    for (size_t number = 1; !text.empty(); ++number) {
        string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        if (line.find('\0') != string_view::npos) return wrong_row(number, zero_byte);
        line = trimmed(line.substr(0, line.find('#')));
        if (line.empty()) continue;
        Result<TunedRow> row = read_row(line, number);
        if (!row) return row.status();
        out.push_back(std::move(*row));
    }
    return out;
}

std::vector<TunedRow> tuned_for(const DeviceCaps& dev, std::span<const TunedRow> rows) {
    std::vector<TunedRow> out;
    for (const TunedRow& row : rows) {
        if (dev.name.find(row.device) == string::npos) continue;
        out.push_back(row);
        out.back().skipped = why_skipped(row, dev);
    }
    return out;
}

std::optional<double> tuned_distance(const TunedRow& row, const Problem& p, uint32_t operand_alignment) {
    if (!same_class(row.problem, p, operand_alignment)) return std::nullopt;
    double sum = 0;
    for (const auto& [a, b] :
         {std::pair{row.problem.m, p.m}, {row.problem.n, p.n}, {row.problem.k, p.k}, {row.problem.batch, p.batch}}) {
        if (a == b) continue;
        if (!within_reach(a, b)) return std::nullopt;
        sum += std::fabs(std::log(double(a) / double(b)));
    }
    return sum;
}

const TunedRow* nearest_tuned(std::span<const TunedRow> rows, const Problem& p, uint32_t operand_alignment) {
    const TunedRow* best = nullptr;
    double least = 0;
    for (const TunedRow& row : rows) {
        if (!row.skipped.empty()) continue;
        const auto distance = tuned_distance(row, p, operand_alignment);
        if (distance && (!best || *distance < least)) best = &row, least = *distance;
    }
    return best;
}

std::vector<string> skipped_near(std::span<const TunedRow> rows, const Problem& p, uint32_t operand_alignment) {
    std::vector<string> out;
    for (const TunedRow& row : rows)
        if (!row.skipped.empty() && tuned_distance(row, p, operand_alignment))
            out.push_back("a tuned row is skipped, " + row.text + ": " + row.skipped);
    return out;
}

std::vector<string> skipped_in_short(std::span<const TunedRow> rows) {
    std::vector<string> out;
    std::vector<string_view> reasons;
    for (const TunedRow& row : rows) {
        if (row.skipped.empty() || std::find(reasons.begin(), reasons.end(), row.skipped) != reasons.end()) continue;
        reasons.push_back(row.skipped);
        const auto count =
            std::count_if(rows.begin(), rows.end(), [&](const TunedRow& r) { return r.skipped == row.skipped; });
        out.push_back((count == 1 ? "a tuned row is skipped, "
                                  : std::to_string(count) + " tuned rows are skipped, the first of them ") +
                      row.text + ": " + row.skipped);
    }
    return out;
}

}  // namespace vkgemm::plan
