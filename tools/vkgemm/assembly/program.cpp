// SPDX-License-Identifier: MIT
#include "assembly/program.h"

#include <algorithm>
#include <cctype>

namespace vkgemm::tool {
namespace {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

size_t take_number(std::string_view& text) {
    size_t value = 0;
    while (!text.empty() && is_digit(text.front())) {
        value = value * 10 + static_cast<size_t>(text.front() - '0');
        text.remove_prefix(1);
    }
    return value;
}

// "16x16x16" or "16n8k16" at the beginning of the text: the product of the sizes, or 0.
double shape_at(std::string_view text, char first, char second) {
    const size_t m = take_number(text);
    if (!m || text.empty() || text.front() != first) return 0;
    text.remove_prefix(1);
    const size_t n = take_number(text);
    if (!n || text.empty() || text.front() != second) return 0;
    text.remove_prefix(1);
    return static_cast<double>(m * n * take_number(text));
}

double products(const Instruction& x) {
    return (x.unit == Unit::matrix ? 1.0 / 32 : 1.0) * x.multiply_adds * x.repeats;
}

}  // namespace

std::optional<Program> program_of(const host::PipelineReport& report) {
    for (const auto& text : report.texts)
        for (const Dialect& d : dialects)
            if (text.name == d.text_name) return d.read(text.text);
    return std::nullopt;
}

// A loop around the inner one multiplies as much and a little more, so the shortest of those that multiply nearly as
// much as any is taken.
std::vector<Instruction> inner_loop(const Program& program) {
    struct Body {
        Jump jump;
        double products = 0;
    };
    std::vector<Body> loops;
    double most = 0;
    for (const Jump& jump : program.jumps) {
        if (jump.to > jump.from) continue;
        Body body{jump};
        for (size_t i = jump.to; i <= jump.from; ++i) body.products += products(program.instructions[i]);
        most = std::max(most, body.products);
        loops.push_back(body);
    }
    if (most == 0) return {};
    std::erase_if(loops, [&](const Body& x) { return x.products < 0.75 * most; });
    const auto shortest = std::ranges::min_element(loops, {}, [](const Body& x) { return x.jump.from - x.jump.to; });
    const auto begin = program.instructions.begin();
    return {begin + static_cast<std::ptrdiff_t>(shortest->jump.to),
            begin + static_cast<std::ptrdiff_t>(shortest->jump.from) + 1};
}

std::array<double, static_cast<size_t>(Unit::count)> counts_of(const std::vector<Instruction>& instructions) {
    std::array<double, static_cast<size_t>(Unit::count)> out = {};
    for (const Instruction& x : instructions) out[static_cast<size_t>(x.unit)] += x.repeats;
    return out;
}

Program Listing::program() && {
    Program out;
    out.instructions = std::move(all_);
    for (const auto& [label, from] : jumps_)
        for (const auto& [name, to] : labels_)
            if (name == label) out.jumps.push_back({from, to});
    return out;
}

double shape_in(std::string_view op) {
    for (size_t i = 0; i < op.size(); ++i) {
        if (!is_digit(op[i]) || (i > 0 && is_digit(op[i - 1]))) continue;
        const double by_x = shape_at(op.substr(i), 'x', 'x'), by_letters = shape_at(op.substr(i), 'n', 'k');
        if (by_x + by_letters > 0) return by_x + by_letters;
    }
    return 0;
}

double number_in(std::string_view op, std::initializer_list<NumberOfText> rows, double otherwise) {
    for (const auto& [text, number] : rows)
        if (op.find(text) != std::string_view::npos) return number;
    return otherwise;
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, name) != names.end();
}

std::string_view take_word(std::string_view& line) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t,"), line.size()));
    const std::string_view word = line.substr(0, line.find_first_of(" \t,"));
    line.remove_prefix(word.size());
    return word;
}

}  // namespace vkgemm::tool
