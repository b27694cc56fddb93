// SPDX-License-Identifier: MIT
#include "tools/vkgemm/report/explanation.h"

#include <algorithm>
#include <cmath>

#include "plan/base/string_util.h"
#include "tools/vkgemm/cli/text.h"

namespace vkgemm::tool {
namespace {

using std::string;
using std::string_view;

/// What follows `head`, if the text begins with it.
std::optional<string_view> after(string_view text, string_view head) {
    if (!text.starts_with(head)) return std::nullopt;
    return text.substr(head.size());
}

/// The number that begins `text`; 0 where there is none.
double leading_number(string_view text) {
    return plan::read_number<double>(text.substr(0, text.find(' '))).value_or(0);
}

/// "tiled_f32_8x8, 64 work groups of 64"
Explanation::Pass read_pass(string_view text) {
    const size_t comma = text.find(", ");
    if (comma == string_view::npos) return {string(text), 0, 0};
    const string_view numbers = text.substr(comma + 2), words = " work groups of ";
    const size_t of = numbers.find(words);
    const string_view size = of == string_view::npos ? "" : numbers.substr(of + words.size());
    return {string(text.substr(0, comma)), static_cast<uint64_t>(leading_number(numbers)),
            plan::read_number<uint64_t>(size).value_or(0)};
}

/// "tiled_f32_8x8: costs 1.2e+06", "tiled_f32_8x8: " and a reason; unfit() names the kernel once more.
Explanation::Other read_other(string_view text) {
    const size_t colon = std::min(text.find(": "), text.size());
    Explanation::Other other{string(text.substr(0, colon)), {}, {}};
    string_view rest = text.substr(std::min(colon + 2, text.size()));
    if (const auto cost = after(rest, "costs ")) {
        other.cost = plan::read_number<double>(*cost);
        if (other.cost) return other;
    }
    if (const auto reason = after(rest, other.kernel + ": ")) rest = *reason;
    other.why = rest;
    return other;
}

void read_line(string_view line, Explanation& e) {
    if (const auto why = after(line, "no kernel: ")) e.no_kernel = *why;
    const size_t space = std::min(line.find(' '), line.size());
    const string_view label = line.substr(0, space);
    const string_view value = line.substr(std::min(line.find_first_not_of(' ', space), line.size()));
    if (label == "kernel") e.kernel = value;
    if (label == "tile") e.tile = value;
    if (label == "cost") e.cost = leading_number(value);
    if (label == "operands") e.operands = value;
    if (label == "workspace") e.workspace = static_cast<uint64_t>(leading_number(value));
    if (label == "dispatch") e.passes.push_back(read_pass(value));
    if (label == "tuned") e.tuned = value;
    if (label == "not") e.others.push_back(read_other(value));
    constexpr string_view known[] = {"kernel",   "tile",  "cost", "operands", "workspace",
                                     "dispatch", "tuned", "not",  "no"};
    if (label == "note")
        e.notes.emplace_back(value);
    else if (std::ranges::find(known, label) == std::end(known))
        e.notes.emplace_back(line);
}

}  // namespace

Explanation read_explanation(string_view text) {
    Explanation e;
    while (!text.empty()) {
        const size_t end = std::min(text.find('\n'), text.size());
        if (end) read_line(text.substr(0, end), e);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return e;
}

std::vector<Refused> by_reason(const std::vector<Explanation::Other>& others) {
    std::vector<Refused> all;
    for (const auto& other : others) {
        if (other.cost) continue;
        auto same = std::ranges::find(all, other.why, &Refused::why);
        if (same == all.end()) same = all.insert(all.end(), {other.why, {}});
        same->kernels.push_back(other.kernel);
    }
    return all;
}

string refused_types(const Refused& r) {
    const auto types = after(r.why, "multiplies ");
    const size_t end = types ? types->find(", not ") : string_view::npos;
    return end == string_view::npos ? "" : string(types->substr(0, end));
}

namespace {

string times(string_view what, size_t n) {
    string out;
    while (n--) out += what;
    return out;
}
string sizes(uint64_t rows, uint64_t columns) { return std::to_string(rows) + " x " + std::to_string(columns); }

/// The characters of a picture to scale. Two columns of characters are as wide as one line is high.
struct Scale {
    double elements;  // a line of characters stands for
    size_t lines(uint32_t n) const { return std::max<size_t>(1, static_cast<size_t>(std::lround(n / elements))); }
    size_t columns(uint32_t n) const { return std::max<size_t>(2, static_cast<size_t>(std::lround(2 * n / elements))); }
};
constexpr uint32_t most_lines = 10, most_columns = 44;  // of D, where it is cut into few parts
constexpr size_t most_beside = 16, most_above = 6;      // of A and B along K

/// A part of D and what it is called; none: 0 rows.
struct Part {
    uint32_t rows = 0, columns = 0;
    string name;
};
/// What a work group's block is cut into: subgroups or teams.
Part outer_part(const plan::Tile& t) {
    if (!t.WM || !t.WN) return {};
    return {t.WM, t.WN, t.MM ? "a subgroup" : "a team of " + std::to_string(SIMT_TEAM) + " invocations"};
}
/// The smallest part that is computed as one.
Part inner_part(const plan::Tile& t) {
    if (t.MM && t.MN) return {t.MM, t.MN, "one product of the matrix units, " + std::to_string(t.MK) + " deep"};
    if (!t.TM || !t.TN) return {};
    return {t.TM, t.TN, "one invocation"};
}

/// A horizontal line through cells that are so wide: ends, dashes, and `cross` between two.
string rule(const std::vector<size_t>& cells, string_view left, string_view cross, string_view right) {
    string line(left);
    for (size_t i = 0; i < cells.size(); ++i) line += (i ? string(cross) : "") + times("─", cells[i]);
    return line + string(right);
}

/// D's box: a cell for each outer part, the first one filled.
std::vector<string> block_lines(const plan::Tile& t, const Part& outer, const Part& inner, const Scale& s) {
    const uint32_t down = outer.rows ? t.BM / outer.rows : 1, across = outer.rows ? t.BN / outer.columns : 1;
    const size_t high = s.lines(t.BM / down), wide = s.columns(t.BN / across);
    const size_t filled_lines = inner.rows ? s.lines(inner.rows) : 0;
    const size_t filled_columns = inner.rows ? std::min(s.columns(inner.columns), wide) : 0;
    const std::vector<size_t> cells(across, wide);
    std::vector<string> lines = {rule(cells, "┌", "┬", "┐")};
    for (uint32_t y = 0; y < down; ++y) {
        if (y) lines.push_back(rule(cells, "├", "┼", "┤"));
        for (size_t i = 0; i < high; ++i) {
            string line;
            for (uint32_t x = 0; x < across; ++x) {
                const bool first = !x && !y;
                const size_t full = first && i < filled_lines ? filled_columns : 0;
                line += "│" + times("█", full) + times(first && outer.rows ? "▒" : " ", wide - full);
            }
            lines.push_back(line + "│");
        }
    }
    lines.push_back(rule(cells, "└", "┴", "┘"));
    return lines;
}

/// An empty box of so many lines.
std::vector<string> box(size_t wide, size_t high) {
    std::vector<string> lines = {rule({wide}, "┌", "", "┐")};
    lines.insert(lines.end(), high, "│" + times(" ", wide) + "│");
    lines.push_back(rule({wide}, "└", "", "┘"));
    return lines;
}

}  // namespace

string tile_drawing(const plan::Kernel& kernel, const plan::Tile& t) {
    const Part outer = outer_part(t), inner = inner_part(t);
    const Scale s{std::max({1.0, double(t.BM) / most_lines, 2 * double(t.BN) / most_columns})};
    const std::vector<string> d = block_lines(t, outer, inner, s);
    const bool copies = t.BK > 0;  // A and B step by step
    const size_t a_wide = copies ? std::min(s.columns(t.BK), most_beside) : 0;
    const auto a = box(a_wide, d.size() - 2), b = box(columns(d[0]) - 2, std::min(s.lines(t.BK), most_above));
    string out;
    for (size_t i = 0; copies && i < b.size(); ++i)
        out += times(" ", a_wide + 5) + b[i] + (i == 1 ? "  B, BK x BN = " + sizes(t.BK, t.BN) : "") + "\n";
    for (size_t i = 0; i < d.size(); ++i)
        out += "  " + (copies ? a[i] + " " : "") + d[i] + (i == 1 ? "  D, BM x BN = " + sizes(t.BM, t.BN) : "") + "\n";
    if (copies) out += "  A, BM x BK = " + sizes(t.BM, t.BK) + "\n";

    out += "\n  work group: " + sizes(t.BM, t.BN) + " of D by " + std::to_string(t.WG) + " invocations";
    if (t.BK) out += ", in steps of " + std::to_string(t.BK) + " along K";
    const uint64_t shared = kernel.module.family.shared_bytes(t, kernel.module.element_bytes());
    out += shared ? ", " + bytes_text(shared) + " shared memory\n" : "\n";
    if (outer.rows) out += "  ▒ " + sizes(outer.rows, outer.columns) + ": " + outer.name + "\n";
    if (inner.rows) out += "  █ " + sizes(inner.rows, inner.columns) + ": " + inner.name + "\n";
    return out;
}

}  // namespace vkgemm::tool
