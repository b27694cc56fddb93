// SPDX-License-Identifier: MIT
#include "trace/cover_plot.h"

#include <algorithm>
#include <set>

#include "report/svg.h"

namespace vkgemm::tool {
namespace {

using namespace draw;

constexpr double side = 360;         // pixels of the longer side of D
constexpr uint64_t most_tiles = 16;  // of D that are drawn, down and across; the others look the same
constexpr double top = legend_top + 96, gap = 28;
constexpr double second = margin + 440;  // column of the legend
enum Label : uint32_t { by_group = 1, in_a_step = 2, by_invocation = 3 };

/// A part of a matrix, from its first element, and where it is drawn.
struct View {
    uint64_t rows, cols;
    double x, y, cell_width, cell_height;
    double width() const { return cell_width * static_cast<double>(cols); }
    double height() const { return cell_height * static_cast<double>(rows); }
};

std::string patch_at(const View& v, const Patch& p, const std::string& kind, double least = 0) {
    return rect_at(v.x + static_cast<double>(p.col) * v.cell_width, v.y + static_cast<double>(p.row) * v.cell_height,
                   std::max(least, static_cast<double>(p.cols) * v.cell_width),
                   std::max(least, static_cast<double>(p.rows) * v.cell_height), kind);
}

/// A patch's number in its middle, where it fits.
std::string number_in(const View& v, const Patch& p, uint32_t number) {
    const std::string name = std::to_string(number);
    const double width = static_cast<double>(p.cols) * v.cell_width,
                 height = static_cast<double>(p.rows) * v.cell_height;
    if (width < width_of(name) + 4 || height < 14) return "";
    return text_at(v.x + static_cast<double>(p.col) * v.cell_width + width / 2,
                   v.y + static_cast<double>(p.row) * v.cell_height + height / 2 + 4, name, "text-anchor=\"middle\"");
}

std::string frame(const View& v) { return rect_at(v.x, v.y, v.width(), v.height(), "frame"); }

/// Row and column of an element of the first matrix; false outside of it.
bool place_of(const TracedOperand& o, uint64_t at, uint64_t& row, uint64_t& col) {
    const bool by_rows = o.matrix.layout == rowMajor;
    row = by_rows ? at / o.matrix.ld : at % o.matrix.ld;
    col = by_rows ? at % o.matrix.ld : at / o.matrix.ld;
    return row < o.rows && col < o.cols;
}

/// Calls `note(cell, access)` for every element in `view` that the watched group touches.
template <class Note>
void each_touched(const Trace& t, uint32_t bind, const View& v, const Note& note) {
    for (const Access& a : t.watched)
        for (uint64_t e = a.first; a.operand == bind && e < uint64_t{a.first} + a.elements; ++e)
            if (uint64_t row = 0, col = 0; place_of(t.operands[bind], e, row, col) && row < v.rows && col < v.cols)
                note(row * v.cols + col, a);
}

uint32_t first_step(const Trace& t, uint32_t bind) {
    uint32_t first = UINT32_MAX;
    for (const Access& a : t.watched)
        if (a.operand == bind) first = std::min(first, a.step);
    return first;
}
uint32_t first_invocation(const Trace& t, uint32_t bind, uint32_t step) {
    uint32_t first = UINT32_MAX;
    for (const Access& a : t.watched)
        if (a.operand == bind && (a.step == step || bind == bind_d)) first = std::min(first, a.invocation);
    return first;
}

/// What the watched group reads of A or B.
std::string reads(const Trace& traced, uint32_t bind, const View& v) {
    const uint32_t step = first_step(traced, bind), invocation = first_invocation(traced, bind, step);
    std::vector<uint32_t> labels(v.rows * v.cols);
    each_touched(traced, bind, v, [&](uint64_t cell, const Access& a) {
        const uint32_t label = a.step != step ? by_group : a.invocation == invocation ? by_invocation : in_a_step;
        labels[cell] = std::max(labels[cell], label);
    });
    static constexpr const char* kinds[] = {"", "f0 faint", "f0 half", "f1"};
    std::vector<Patch> all = patches(labels, v.cols);
    std::ranges::stable_sort(all, {}, &Patch::label);  // the smallest on top
    std::string body;
    for (const Patch& p : all) body += patch_at(v, p, kinds[p.label], p.label == by_invocation ? 3 : 0);
    return body + frame(v);
}

/// D, by work groups.
std::string groups(const Trace& traced, const View& v) {
    const TracedOperand& d = traced.operands[bind_d];
    std::vector<uint32_t> labels(v.rows * v.cols);
    for (uint64_t row = 0; row < v.rows; ++row)
        for (uint64_t col = 0; col < v.cols; ++col) labels[row * v.cols + col] = traced.owners[d.position(0, row, col)];
    std::string body;
    for (const Patch& p : patches(labels, v.cols)) {
        body += patch_at(v, p, kind_of("f", p.label - 1) + " tile");
        body += number_in(v, p, p.label - 1);
    }
    return body + frame(v);
}

/// The watched group's tile of D: its subgroups, and one invocation.
std::string zoomed(const Trace& traced, const View& v, size_t& subgroups) {
    const uint32_t invocation = first_invocation(traced, bind_d, 0);
    std::vector<uint32_t> by_subgroup(v.rows * v.cols), mine(v.rows * v.cols);
    std::set<uint32_t> all;
    each_touched(traced, bind_d, v, [&](uint64_t cell, const Access& a) {
        by_subgroup[cell] = a.subgroup + 1;
        all.insert(a.subgroup);
        if (a.invocation == invocation) mine[cell] = 1;
    });
    subgroups = all.size();
    std::string body;
    for (const Patch& p : patches(by_subgroup, v.cols)) {
        const uint32_t s = p.label - 1;
        body += patch_at(v, p, kind_of("f", 2 + s % 4) + (s / 4 % 2 ? " half" : " faint"));
    }
    for (const Patch& p : patches(mine, v.cols)) body += patch_at(v, p, "f1");
    for (const Patch& p : patches(by_subgroup, v.cols)) body += number_in(v, p, p.label - 1);
    return body + frame(v);
}

std::string caption(const View& v, const std::string& text) {
    return text_at(v.x, v.y + v.height() + 18, text, "class=\"dim\"");
}

std::string key(double x, double y, const char* kind, const std::string& text) {
    return rect_at(x, y, 12, 12, kind) + text_at(x + 18, y + 10, text);
}

}  // namespace

std::vector<Patch> patches(const std::vector<uint32_t>& labels, uint64_t cols) {
    std::vector<Patch> done, open;  // open: those that reach down to the row before
    for (uint64_t row = 0; cols && row < labels.size() / cols; ++row) {
        std::vector<Patch> now;
        for (uint64_t col = 0, end = 0; col < cols; col = end) {
            const uint32_t label = labels[row * cols + col];
            for (end = col + 1; end < cols && labels[row * cols + end] == label;) ++end;
            if (label) now.push_back({.label = label, .row = row, .col = col, .rows = 1, .cols = end - col});
        }
        for (const Patch& above : open) {
            const auto same = std::ranges::find_if(now, [&](const Patch& p) {
                return p.label == above.label && p.col == above.col && p.cols == above.cols;
            });
            if (same == now.end())
                done.push_back(above);
            else {
                same->row = above.row;
                same->rows = above.rows + 1;
            }
        }
        open = std::move(now);
    }
    done.insert(done.end(), open.begin(), open.end());
    return done;
}

std::string svg(const Trace& traced, const std::string& title, const std::string& subtitle) {
    const uint64_t m = std::min<uint64_t>(traced.problem.m, most_tiles * traced.tile.BM);
    const uint64_t n = std::min<uint64_t>(traced.problem.n, most_tiles * traced.tile.BN), k = traced.problem.k;
    const double cell = side / static_cast<double>(std::max(m, n));
    const double depth = std::clamp(static_cast<double>(k) * cell, 60.0, 200.0);  // pixels of K
    const double per_k = k ? depth / static_cast<double>(k) : 1;
    const View a{.rows = m, .cols = k, .x = margin, .y = top + depth + gap, .cell_width = per_k, .cell_height = cell};
    const View b{.rows = k, .cols = n, .x = margin + depth + gap, .y = top, .cell_width = cell, .cell_height = per_k};
    const View d{.rows = m, .cols = n, .x = b.x, .y = a.y, .cell_width = cell, .cell_height = cell};
    const uint64_t tile_rows = std::min<uint64_t>(traced.tile.BM, traced.problem.m),
                   tile_cols = std::min<uint64_t>(traced.tile.BN, traced.problem.n);
    const double tile_cell = side / static_cast<double>(std::max(tile_rows, tile_cols));
    const View tile{.rows = tile_rows,
                    .cols = tile_cols,
                    .x = d.x + std::max(d.width(), 200.0) + 2 * gap,
                    .y = d.y,
                    .cell_width = tile_cell,
                    .cell_height = tile_cell};

    size_t subgroups = 0;
    std::string body = zoomed(traced, tile, subgroups);
    if (k) body += reads(traced, bind_a, a) + reads(traced, bind_b, b);
    body += groups(traced, d);
    const auto size = [](uint64_t rows, uint64_t cols) { return std::to_string(rows) + " x " + std::to_string(cols); };
    body += caption(a, traced.operands[bind_a].name + ", " + size(m, k));
    body += text_at(b.x, b.y - 8, traced.operands[bind_b].name + ", " + size(k, n) + " elements", "class=\"dim\"");
    const bool part = m < traced.problem.m || n < traced.problem.n;
    body += caption(d, "D, " + size(m, n) + (part ? " of " + size(traced.problem.m, traced.problem.n) : ""));
    body += key(second, legend_top + 24, "f0 tile", "D by work groups, with their numbers");
    body += caption(tile, "work group 0's part of D, " + size(tile_rows, tile_cols));
    body += key(margin, legend_top + 4, "f0 faint", "read by work group 0");
    body += key(margin, legend_top + 24, "f0 half", "in its first step");
    body += key(margin, legend_top + 44, "f1", "by its first invocation, read in that step or written");
    const std::string whose = "work group 0's " + std::to_string(subgroups) +
                              (subgroups == 1 ? " subgroup" : " subgroups, by colour and number");
    body += key(second, legend_top + 4, "f3 half", whose);
    const double width = std::max({tile.x + std::max(tile.width(), 300.0), width_of(title) * 1.3, width_of(subtitle),
                                   second + 18 + width_of(whose)}) +
                         margin;
    return page(width, std::max(d.y + d.height(), tile.y + tile.height()) + 30 + margin, title, subtitle, body);
}

}  // namespace vkgemm::tool
