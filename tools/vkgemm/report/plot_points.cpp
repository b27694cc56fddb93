// SPDX-License-Identifier: MIT
// Pictures of points.
#include <algorithm>
#include <cmath>
#include <vector>

#include "report/plot.h"
#include "report/plot_axis.h"
#include "report/svg.h"

namespace vkgemm::tool {
using namespace draw;

namespace {

constexpr double dot = 5, line_height = 14, label_gap = 9;  // pixels; label_gap: from a dot to its label

struct Box {
    double left, top, right, bottom;
    bool meets(const Box& b) const { return left < b.right && b.left < right && top < b.bottom && b.top < bottom; }
};

/// The place of a label: it begins at `x`, or ends there.
struct DotLabel {
    double x, y;  // of the middle of its line
    bool ends = false;
    Box box(double width) const {
        const double from = ends ? x - width - 2 : x - 2;
        return {.left = from, .top = y - line_height / 2, .right = from + width + 4, .bottom = y + line_height / 2};
    }
};
/// A place for the label of a dot that no other label takes: right or left of it, or some lines above or below that.
DotLabel place_label(double x, double y, double width, const std::vector<Box>& taken, double top, double bottom) {
    for (const double lines : {0.0, -1.0, 1.0, -2.0, 2.0, -3.0, 3.0, -4.0, 4.0, -5.0, 5.0})
        for (const bool left : {false, true}) {
            const DotLabel label{left ? x - label_gap : x + label_gap, y + lines * line_height, left};
            const Box box = label.box(width);
            const bool meets = std::ranges::any_of(taken, [&](const Box& b) { return b.meets(box); });
            if (!meets && box.top >= top && box.bottom <= bottom) return label;
        }
    return {x + label_gap, y};
}

}  // namespace

std::string svg(const PointPlot& plot) {
    double least = HUGE_VAL, most = 0, highest = 0, longest = 0, legend_width = 0;
    std::vector<std::string> names;
    for (const PointSeries& s : plot.series) {
        names.push_back(s.name);
        for (const PlotPoint& p : s.points) {
            least = std::min(least, p.x);
            most = std::max(most, p.x);
            highest = std::max(highest, p.y);
            longest = std::max(longest, width_of(p.label));
        }
    }
    if (!(most > 0)) least = most = 1;
    Scale x = fitted_scale(least, most), y = value_scale(0, highest, false);
    const std::string key = legend(names, "", legend_width);
    double labels = 0;
    for (const double t : ticks(y)) labels = std::max(labels, width_of(number(t)));
    const double top = legend_top + legend_height + 24, bottom = top + 320;
    const double width = std::max(
        {800.0, legend_width + margin, width_of(plot.title) * 1.3 + 2 * margin, width_of(plot.subtitle) + 2 * margin});
    y.from = bottom;
    y.to = top + line_height / 2 + 1;
    x.from = margin + labels + 20 + longest;
    x.to = width - 2 * margin - longest;
    std::string body = key + text_at(margin, top - 12, plot.y_axis);
    for (const double t : ticks(y)) {
        body += line_at(margin + labels + 12, y.at(t), width - margin, y.at(t), "grid");
        body += text_at(margin + labels + 6, y.at(t) + 4, number(t), R"(class="dim" text-anchor="end")");
    }
    for (const double t : ticks(x)) {
        body += line_at(x.at(t), top, x.at(t), bottom + 5, "grid");
        body += text_at(x.at(t), bottom + 20, number(t), R"(class="dim" text-anchor="middle")");
    }
    body += text_at((x.from + x.to) / 2, bottom + 40, plot.x_axis + " (logarithmic)", "text-anchor=\"middle\"");
    std::string leaders, dots, words;
    std::vector<Box> taken;
    for (size_t i = 0; i < plot.series.size(); ++i)
        for (const PlotPoint& p : plot.series[i].points) {
            const double at = x.at(p.x), up = y.at(p.y);
            dots += dot_at(at, up, kind_of("f", i), dot);
            taken.push_back({.left = at - dot, .top = up - dot, .right = at + dot, .bottom = up + dot});
        }
    for (const PointSeries& s : plot.series)
        for (const PlotPoint& p : s.points) {
            if (p.label.empty()) continue;
            const double at = x.at(p.x), up = y.at(p.y), wide = width_of(p.label);
            const DotLabel label = place_label(at, up, wide, taken, top, bottom);
            taken.push_back(label.box(wide));
            if (label.y != up) leaders += line_at(at, up, label.x, label.y, "grid");
            words += text_at(label.x, label.y + 4, p.label,
                             label.ends ? R"(class="dim value" text-anchor="end")" : "class=\"dim value\"");
        }
    body += leaders + dots + words;
    return page(width, bottom + 40 + margin, plot.title, plot.subtitle, body);
}

}  // namespace vkgemm::tool
