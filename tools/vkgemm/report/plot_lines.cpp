// SPDX-License-Identifier: MIT
// Pictures of lines over sizes.
#include <algorithm>
#include <cmath>

#include "report/plot.h"
#include "report/plot_axis.h"
#include "report/svg.h"

namespace vkgemm::tool {
using namespace draw;
namespace {

// Pixels.
constexpr double least_width = 800, one_panel = 320, many_panels = 230, panel_head = 34, foot = 46;
constexpr double apart = 4;          // of two sizes on a scale, so that one can tell them apart
constexpr double label_height = 14;  // of a label that stands upright
constexpr size_t many_points = 24;   // from here on dots are small

/// The axis that the panels share: to scale, or each size in a place of its own where a scale would put some of them
/// on top of each other.
struct SizeAxis {
    Scale scale;
    std::vector<double> sizes;  // all that there are, by growing size
    bool in_turn = false;

    double at(double size) const {
        if (!in_turn) return scale.at(size);
        return scale.at(static_cast<double>(std::ranges::lower_bound(sizes, size) - sizes.begin()));
    }
};

SizeAxis size_axis(const LinePlot& plot, double from, double to) {
    SizeAxis axis{.scale = {.low = 0, .high = 1, .from = from, .to = to}, .sizes = {}};
    for (const LinePanel& panel : plot.panels)
        for (const LineSeries& s : panel.series)
            for (const LinePoint& p : s.points) axis.sizes.push_back(p.x);
    std::ranges::sort(axis.sizes);
    axis.sizes.erase(std::unique(axis.sizes.begin(), axis.sizes.end()), axis.sizes.end());
    if (axis.sizes.empty()) return axis;
    axis.scale.low = axis.sizes.front();
    axis.scale.high = axis.sizes.back();
    if (axis.sizes.size() == 1) {
        axis.scale.low = 0;
        axis.scale.high = std::max(1.0, axis.scale.high);
    }
    axis.scale.logarithmic = axis.scale.low > 0 && axis.scale.high > 8 * axis.scale.low;
    for (size_t i = 1; i < axis.sizes.size(); ++i)
        axis.in_turn |= axis.scale.at(axis.sizes[i]) - axis.scale.at(axis.sizes[i - 1]) < apart;
    if (axis.in_turn)
        axis.scale = {.low = 0, .high = static_cast<double>(axis.sizes.size() - 1), .from = from, .to = to};
    return axis;
}

/// number() has six digits.
std::string size_text(double size) { return size < 1e6 ? number(size) : std::to_string(std::llround(size)); }

std::string size_labels(const SizeAxis& axis, double y) {
    std::string body;
    if (!axis.in_turn) {
        for (const double t : size_ticks(axis.scale))
            body += text_at(axis.at(t), y + 20, size_text(t), R"(class="dim" text-anchor="middle")");
        return body;
    }
    const double spacing = (axis.scale.to - axis.scale.from) / static_cast<double>(axis.sizes.size() - 1);
    const size_t every = static_cast<size_t>(std::ceil(label_height / spacing));
    for (size_t i = 0; i < axis.sizes.size(); i += every)
        body += upright_at(axis.at(axis.sizes[i]), y + 10, size_text(axis.sizes[i]), "class=\"dim\"");
    return body;
}

double labels_height(const SizeAxis& axis) {
    return axis.in_turn && !axis.sizes.empty() ? 10 + width_of(size_text(axis.sizes.back())) : 20;
}

std::string grid_of(const SizeAxis& axis, double top, double bottom) {
    std::string body;
    for (const double t : axis.in_turn ? axis.sizes : size_ticks(axis.scale))
        body += line_at(axis.at(t), axis.in_turn ? top : bottom, axis.at(t), bottom + 5, "grid");
    return body;
}

std::string series_body(const LineSeries& series, size_t colour, const SizeAxis& x, const Scale& y) {
    std::string points, dots;
    const double radius = series.points.size() > many_points ? 2.5 : 4;
    for (const LinePoint& p : series.points) {
        const double at = x.at(p.x);
        points += number(at) + "," + number(y.at(p.y)) + " ";
        if (p.spread.low > 0 && p.spread.low < p.spread.high)
            dots += line_at(at, std::min(y.at(p.spread.low), y.from), at, y.at(p.spread.high), "spread");
        dots += dot_at(at, y.at(p.y), kind_of("f", colour), radius);
    }
    return "<polyline class=\"line " + kind_of("s", colour) + "\" points=\"" + points + "\"/>\n" + dots;
}

/// The series of all panels by name: a name has one colour.
std::vector<std::string> names_of(const LinePlot& plot) {
    std::vector<std::string> names;
    for (const LinePanel& panel : plot.panels)
        for (const LineSeries& s : panel.series)
            if (std::ranges::find(names, s.name) == names.end()) names.push_back(s.name);
    return names;
}

Scale scale_of(const LinePanel& panel) {
    double least = HUGE_VAL, most = 0;
    for (const LineSeries& s : panel.series)
        for (const LinePoint& p : s.points) {
            least = std::min(least, p.y);
            most = std::max({most, p.y, p.spread.high});
        }
    return value_scale(least, most, panel.logarithmic && least > 0 && least < most);
}

std::string panel_body(const LinePanel& panel, const std::vector<std::string>& names, const SizeAxis& x, double top,
                       double height) {
    Scale y = scale_of(panel);
    y.from = top + panel_head + height;
    y.to = top + panel_head;
    std::string body = text_at(margin, top + 20,
                               panel.title + (panel.title.empty() || panel.y_axis.empty() ? "" : ", ") + panel.y_axis);
    body += grid_of(x, y.to, y.from);
    for (const double t : ticks(y)) {
        body += line_at(x.scale.from - 8, y.at(t), x.scale.to + 8, y.at(t), "grid");
        body += text_at(x.scale.from - 14, y.at(t) + 4, number(t), R"(class="dim" text-anchor="end")");
    }
    // The first series is drawn over the others.
    for (size_t i = panel.series.size(); i-- > 0;) {
        const auto colour = std::ranges::find(names, panel.series[i].name) - names.begin();
        body += series_body(panel.series[i], static_cast<size_t>(colour), x, y);
    }
    return body;
}

}  // namespace

std::string svg(const LinePlot& plot) {
    const std::vector<std::string> names = names_of(plot);
    double legend_width = 0, labels = 0;
    const std::string key = legend(names, "", legend_width);
    for (const LinePanel& panel : plot.panels)
        for (const double t : ticks(scale_of(panel))) labels = std::max(labels, width_of(number(t)));
    const double width = std::max({least_width, legend_width + margin, width_of(plot.title) * 1.3 + 2 * margin,
                                   width_of(plot.subtitle) + 2 * margin});
    const double height = plot.panels.size() > 1 ? many_panels : one_panel;
    const SizeAxis x = size_axis(plot, margin + labels + 20, width - 2 * margin);
    std::string body = key;
    double top = legend_top + legend_height;
    for (const LinePanel& panel : plot.panels) {
        body += panel_body(panel, names, x, top, height);
        top += panel_head + height + foot / 2;
    }
    const double bottom = top - foot / 2;
    body += size_labels(x, bottom);
    const double axis = bottom + labels_height(x) + 22;
    body += text_at((x.scale.from + x.scale.to) / 2, axis, plot.x_axis + (x.in_turn ? ", not to scale" : ""),
                    "text-anchor=\"middle\"");
    return page(width, axis + margin, plot.title, plot.subtitle, body);
}

}  // namespace vkgemm::tool
