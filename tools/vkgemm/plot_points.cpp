// SPDX-License-Identifier: MIT
// Pictures of points.
#include <algorithm>
#include <cmath>
#include <vector>

#include "tools/vkgemm/plot.h"
#include "tools/vkgemm/plot_axis.h"
#include "tools/vkgemm/svg.h"

namespace vkgemm::tool {
using namespace draw;

namespace {

constexpr double dot = 5, line_height = 14, gap = 9;  // pixels; gap: from a dot to its label

struct Box {
    double left, top, right, bottom;
    bool meets(const Box& b) const { return left < b.right && b.left < right && top < b.bottom && b.top < bottom; }
};

/// Where the label of a dot finds room: beside it, to the right or to the left, or some lines above or below that.
struct Place {
    bool left = false;
    double down = 0;
    Box box(double x, double y, double width) const {
        const double from = left ? x - gap - width : x + gap;
        return {from, y + down - line_height / 2, from + width, y + down + line_height / 2};
    }
};
Place place_of(double x, double y, double width, const std::vector<Box>& taken) {
    for (const double lines : {0.0, -1.0, 1.0, -2.0, 2.0, -3.0, 3.0, -4.0, 4.0, -5.0, 5.0})
        for (const bool left : {false, true}) {
            const Place place{left, lines * line_height};
            const Box box = place.box(x, y, width);
            if (std::ranges::none_of(taken, [&](const Box& b) { return b.meets(box); })) return place;
        }
    return {};
}

}  // namespace

std::string svg(const PointPlot& plot) {
    double least = HUGE_VAL, most = 0, highest = 0, longest = 0, legend_width = 0;
    std::vector<std::string> names;
    for (const PointSeries& s : plot.series) {
        names.push_back(s.name);
        for (const PlotPoint& p : s.points) {
            least = std::min(least, p.x), most = std::max(most, p.x), highest = std::max(highest, p.y);
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
    y.from = bottom, y.to = top + 6;
    x.from = margin + labels + 20 + longest, x.to = width - 2 * margin - longest;
    std::string body = key + text_at(margin, top - 12, plot.y_axis);
    for (const double t : ticks(y)) {
        body += line_at(margin + labels + 12, y.at(t), width - margin, y.at(t), "grid");
        body += text_at(margin + labels + 6, y.at(t) + 4, number(t), "class=\"dim\" text-anchor=\"end\"");
    }
    for (const double t : ticks(x)) {
        body += line_at(x.at(t), top, x.at(t), bottom + 5, "grid");
        body += text_at(x.at(t), bottom + 20, number(t), "class=\"dim\" text-anchor=\"middle\"");
    }
    body += text_at((x.from + x.to) / 2, bottom + 40, plot.x_axis + " (logarithmic)", "text-anchor=\"middle\"");
    std::vector<Box> taken;
    for (size_t i = 0; i < plot.series.size(); ++i)
        for (const PlotPoint& p : plot.series[i].points) {
            const double at = x.at(p.x), up = y.at(p.y);
            body += dot_at(at, up, kind_of("f", i), dot);
            taken.push_back({at - dot, up - dot, at + dot, up + dot});
        }
    for (const PointSeries& s : plot.series)
        for (const PlotPoint& p : s.points) {
            if (p.label.empty()) continue;
            const double at = x.at(p.x), up = y.at(p.y);
            const Place place = place_of(at, up, width_of(p.label), taken);
            taken.push_back(place.box(at, up, width_of(p.label)));
            const double beside = at + (place.left ? -gap : gap);
            if (place.down != 0) body += line_at(at, up, beside, up + place.down, "grid");
            body += text_at(beside, up + place.down + 4, p.label,
                            place.left ? "class=\"dim value\" text-anchor=\"end\"" : "class=\"dim value\"");
        }
    return page(width, bottom + 40 + margin, plot.title, plot.subtitle, body);
}

}  // namespace vkgemm::tool
