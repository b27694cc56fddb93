// SPDX-License-Identifier: MIT
// Pictures of points.
#include <algorithm>
#include <cmath>

#include "tools/vkgemm/plot.h"
#include "tools/vkgemm/plot_axis.h"
#include "tools/vkgemm/svg.h"

namespace vkgemm::tool {
using namespace draw;

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
    Scale x = value_scale(least, most, true), y = value_scale(0, highest, false);
    const std::string key = legend(names, "", legend_width);
    double labels = 0;
    for (const double t : ticks(y)) labels = std::max(labels, width_of(number(t)));
    const double top = legend_top + legend_height + 24, bottom = top + 320;
    const double width = std::max(
        {800.0, legend_width + margin, width_of(plot.title) * 1.3 + 2 * margin, width_of(plot.subtitle) + 2 * margin});
    y.from = bottom, y.to = top + 6;
    x.from = margin + labels + 20, x.to = width - 2 * margin - longest;
    std::string body = key + text_at(margin, top - 12, plot.y_axis);
    for (const double t : ticks(y)) {
        body += line_at(x.from - 8, y.at(t), width - margin, y.at(t), "grid");
        body += text_at(x.from - 14, y.at(t) + 4, number(t), "class=\"dim\" text-anchor=\"end\"");
    }
    for (const double t : ticks(x)) {
        body += line_at(x.at(t), top, x.at(t), bottom + 5, "grid");
        body += text_at(x.at(t), bottom + 20, number(t), "class=\"dim\" text-anchor=\"middle\"");
    }
    body += text_at((x.from + x.to) / 2, bottom + 40, plot.x_axis + " (logarithmic)", "text-anchor=\"middle\"");
    for (size_t i = 0; i < plot.series.size(); ++i)
        for (const PlotPoint& p : plot.series[i].points) {
            body += dot_at(x.at(p.x), y.at(p.y), kind_of("f", i), 5);
            body += text_at(x.at(p.x) + 9, y.at(p.y) + 4, p.label, "class=\"dim value\"");
        }
    return page(width, bottom + 40 + margin, plot.title, plot.subtitle, body);
}

}  // namespace vkgemm::tool
