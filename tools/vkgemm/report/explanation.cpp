// SPDX-License-Identifier: MIT
#include "report/explanation.h"

#include <algorithm>
#include <cmath>

#include "cli/text.h"

namespace vkgemm::tool {

using std::string;
using std::string_view;

std::vector<Other> others_of(const Explanation& e) {
    std::vector<Other> all;
    for (const VkgemmCandidate& c : e.candidates())
        if (c.state != VKGEMM_CANDIDATE_CHOSEN)
            all.push_back({.kernel = c.kernel,
                           .state = c.state,
                           .cost = c.cost,
                           .reason = c.reason,
                           .text = c.reasonText,
                           .other_types = c.otherTypes != 0});
    return all;
}

std::vector<Refused> by_reason(const std::vector<Other>& others) {
    std::vector<Refused> all;
    for (const Other& other : others) {
        if (other.serves() || other.other_types) continue;
        auto same = std::ranges::find(all, other.text, &Refused::why);
        if (same == all.end()) same = all.insert(all.end(), {other.text, {}});
        same->kernels.push_back(other.kernel);
    }
    return all;
}

string other_types(const std::vector<Other>& others) {
    std::vector<std::pair<string, size_t>> all;
    for (const Other& other : others) {
        const Kernel* const k = other.other_types ? find_kernel(other.kernel) : nullptr;
        if (!k || !k->is_product()) continue;
        auto same = std::ranges::find(all, types_of(*k), &std::pair<string, size_t>::first);
        if (same == all.end()) same = all.insert(all.end(), {types_of(*k), 0});
        ++same->second;
    }
    string text;
    for (const auto& [types, count] : all)
        text += (text.empty() ? "" : ", ") + types + " (" + std::to_string(count) + ")";
    return text;
}

const char* state_word(VkgemmCandidateState state) {
    switch (state) {
        case VKGEMM_CANDIDATE_CHOSEN:
            return "chosen";
        case VKGEMM_CANDIDATE_SERVES:
            return "serves";
        case VKGEMM_CANDIDATE_DISABLED:
            return "disabled";
        case VKGEMM_CANDIDATE_NOT_BUILT:
            return "not built";
        default:
            return "rejected";
    }
}

namespace {

string times(string_view what, size_t n) {
    string out;
    while (n--) out += what;
    return out;
}
string sizes(uint64_t rows, uint64_t columns) { return std::to_string(rows) + " x " + std::to_string(columns); }

/// The characters of a picture to scale. Two columns of characters are as wide as one line is high.
struct PictureScale {
    double elements;  // a line of characters stands for
    size_t lines(uint32_t n) const { return std::max<size_t>(1, static_cast<size_t>(std::lround(n / elements))); }
    size_t columns(uint32_t n) const { return std::max<size_t>(2, static_cast<size_t>(std::lround(2 * n / elements))); }
};
constexpr uint32_t simt_team = 32;                      // invocations that share WM x WN of D in the family simt
constexpr uint32_t most_lines = 10, most_columns = 44;  // of D, where it is cut into few parts
constexpr size_t most_beside = 15, most_above = 6;      // of A and B along K

/// A part of D and what it is called; none: 0 rows.
struct Part {
    uint32_t rows = 0, columns = 0;
    string name;
};
/// What a work group's block is cut into: subgroups or teams.
Part outer_part(const Tile& t) {
    if (!t.WM || !t.WN) return {};
    return {t.WM, t.WN, t.MM ? "a subgroup" : "a team of " + std::to_string(simt_team) + " invocations"};
}
/// The smallest part that is computed as one.
Part inner_part(const Tile& t) {
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

constexpr uint32_t most_cells = 8;  // one below another

/// D's box: a cell for each outer part, the first one filled. Of many below one another, which a work group computes in
/// turns, the last cell stands for the rest.
std::vector<string> block_lines(const Tile& t, const Part& outer, const Part& inner, const PictureScale& s) {
    const uint32_t down = outer.rows ? t.BM / outer.rows : 1, across = outer.rows ? t.BN / outer.columns : 1;
    const size_t high = s.lines(t.BM / down), wide = s.columns(t.BN / across), all = s.lines(t.BM);
    const uint32_t drawn = std::min(down, most_cells);
    const size_t above = (drawn - 1) * high, last = drawn < down && all > above + high ? all - above : high;
    const size_t filled_lines = inner.rows ? s.lines(inner.rows) : 0;
    const size_t filled_columns = inner.rows ? std::min(s.columns(inner.columns), wide) : 0;
    const std::vector<size_t> cells(across, wide);
    std::vector<string> lines = {rule(cells, "┌", "┬", "┐")};
    for (uint32_t y = 0; y < drawn; ++y) {
        if (y) lines.push_back(rule(cells, "├", "┼", "┤"));
        for (size_t i = 0; i < (y + 1 == drawn ? last : high); ++i) {
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

string tile_drawing(const Tile& t, uint64_t shared) {
    const Part outer = outer_part(t), inner = inner_part(t);
    const PictureScale s{std::max({1.0, double(t.BM) / most_lines, 2 * double(t.BN) / most_columns})};
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
    out += shared ? ", " + bytes_text(shared) + " shared memory\n" : "\n";
    if (outer.rows) out += "  ▒ " + sizes(outer.rows, outer.columns) + ": " + outer.name + "\n";
    if (inner.rows) out += "  █ " + sizes(inner.rows, inner.columns) + ": " + inner.name + "\n";
    return out;
}

}  // namespace vkgemm::tool
