// SPDX-License-Identifier: MIT
#include "tools/vkgemm/plot.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tools/vkgemm/svg.h"

namespace vkgemm::tool {
using namespace draw;
namespace {

// Pixels.
constexpr double legend_height = 26;
constexpr double bar_height = 12, bar_gap = 2, group_gap = 10, axis_height = 44;

/// From values to pixels along one axis.
struct Scale {
    double low = 0, high = 1, from = 0, to = 1;
    bool logarithmic = false;
    double at(double value) const {
        const double part = logarithmic ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
        return from + part * (to - from);
    }
};

/// 1, 2 or 5 times a power of ten: a step that gives about five of them up to `high`.
double nice_step(double high) {
    const double rough = high / 5, power = std::pow(10, std::floor(std::log10(rough)));
    for (const double factor : {1.0, 2.0, 5.0})
        if (factor * power >= rough * 0.999) return factor * power;
    return 10 * power;
}

std::vector<double> ticks(const Scale& scale) {
    std::vector<double> all;
    if (scale.logarithmic) {
        for (double t = scale.low; t <= scale.high * 1.001; t *= 10) all.push_back(t);
        return all;
    }
    const double step = nice_step(scale.high);
    for (int i = 0; i * step <= scale.high * 1.001; ++i) all.push_back(i * step);
    return all;
}

/// An axis of values from 0, or between powers of ten where they are too far apart to compare lengths.
Scale value_scale(double least, double most, bool logarithmic) {
    if (!logarithmic) return {.low = 0, .high = most > 0 ? most : 1};
    Scale s{.low = std::pow(10, std::floor(std::log10(least))), .high = std::pow(10, std::ceil(std::log10(most)))};
    s.logarithmic = true;
    return s;
}

Scale scale_of(const BarPlot& plot) {
    double least = HUGE_VAL, most = 0;
    const auto note = [&](double value) {
        if (value > 0) least = std::min(least, value), most = std::max(most, value);
    };
    for (const BarGroup& g : plot.groups) {
        note(g.mark);
        for (const Bar& b : g.bars) note(b.value);
    }
    return value_scale(least, most, most > 100 * least);
}

/// Do the texts stand in a column at the right? At the ends of bars they would hide dots and marks.
bool texts_apart(const BarPlot& plot, const Scale& scale) { return scale.logarithmic || !plot.mark.empty(); }

std::string group_body(const BarGroup& group, const Scale& scale, double top, bool apart) {
    const double height = static_cast<double>(group.bars.size()) * (bar_height + bar_gap) - bar_gap;
    std::string body = text_at(scale.from - 10, top + height / 2 + 4, group.label, "text-anchor=\"end\"");
    double y = top;
    for (const Bar& bar : group.bars) {
        const double middle = y + bar_height / 2, x = bar.value > 0 ? scale.at(bar.value) : scale.from;
        if (bar.value > 0 && scale.logarithmic)
            body += line_at(scale.from, middle, x, middle, "grid") + dot_at(x, middle, kind_of("f", bar.series));
        else if (bar.value > 0)
            body += rect_at(scale.from, y, std::max(1.0, x - scale.from), bar_height, kind_of("f", bar.series));
        body += text_at((apart ? scale.to : x) + 10, y + bar_height - 2, bar.text,
                        bar.value > 0 ? "class=\"value\"" : "class=\"dim value\"");
        y += bar_height + bar_gap;
    }
    if (group.mark > 0) body += line_at(scale.at(group.mark), top - 3, scale.at(group.mark), top + height + 3, "mark");
    return body;
}

}  // namespace

std::string svg(const BarPlot& plot) {
    double labels = 0, texts = 0, legend_width = 0, height = 0;
    for (const BarGroup& g : plot.groups) {
        labels = std::max(labels, width_of(g.label));
        for (const Bar& b : g.bars) texts = std::max(texts, width_of(b.text));
        height += static_cast<double>(g.bars.size()) * (bar_height + bar_gap) - bar_gap + group_gap;
    }
    const std::string key = legend(plot.series, plot.mark, legend_width);
    Scale scale = scale_of(plot);
    scale.from = margin + labels + 10;
    scale.to = scale.from + 420;
    const bool apart = texts_apart(plot, scale);
    const double top = legend_top + legend_height;
    const double width = std::max({scale.to + texts + 8 + margin, legend_width + margin,
                                   width_of(plot.title) * 1.3 + 2 * margin, width_of(plot.subtitle) + 2 * margin});
    std::string body = key;
    for (const double t : ticks(scale)) {
        body += line_at(scale.at(t), top, scale.at(t), top + height, "grid");
        body += text_at(scale.at(t), top + height + 16, number(t), "class=\"dim\" text-anchor=\"middle\"");
    }
    const std::string axis = plot.axis + (scale.logarithmic ? " (logarithmic)" : "");
    body += text_at((scale.from + scale.to) / 2, top + height + 34, axis, "text-anchor=\"middle\"");
    double y = top + group_gap / 2;
    for (const BarGroup& g : plot.groups) {
        body += group_body(g, scale, y, apart);
        y += static_cast<double>(g.bars.size()) * (bar_height + bar_gap) - bar_gap + group_gap;
    }
    return page(width, top + height + axis_height + margin / 2, plot.title, plot.subtitle, body);
}

namespace {

/// Where x is labelled: at powers of two, or evenly.
std::vector<double> x_ticks(const Scale& x) {
    std::vector<double> all;
    if (x.logarithmic) {
        for (double t = std::exp2(std::ceil(std::log2(x.low))); t <= x.high * 1.001; t *= 2) all.push_back(t);
        return all;
    }
    const double step = nice_step(x.high - x.low);
    for (double t = std::ceil(x.low / step) * step; t <= x.high + step / 1000; t += step) all.push_back(t);
    return all;
}

std::string series_body(const LineSeries& series, size_t index, const Scale& x, const Scale& y) {
    std::string points, dots;
    for (const auto& [px, py] : series.points) {
        points += number(x.at(px)) + "," + number(y.at(py)) + " ";
        dots += dot_at(x.at(px), y.at(py), kind_of("f", index));
    }
    return "<polyline class=\"line " + kind_of("s", index) + "\" points=\"" + points + "\"/>\n" + dots;
}

}  // namespace

std::string svg(const LinePlot& plot) {
    Scale x{.low = HUGE_VAL, .high = 0};
    double least = HUGE_VAL, most = 0;
    std::vector<std::string> names;
    for (const LineSeries& s : plot.series) {
        names.push_back(s.name);
        for (const auto& [px, py] : s.points) {
            x.low = std::min(x.low, px), x.high = std::max(x.high, px);
            least = std::min(least, py), most = std::max(most, py);
        }
    }
    if (!(x.high > x.low)) x.low = 0, x.high = std::max(1.0, x.high);
    Scale y = value_scale(least, most, plot.logarithmic && least > 0 && least < most);
    x.logarithmic = x.low > 0 && x.high > 8 * x.low;
    double legend_width = 0;
    const std::string key = legend(names, "", legend_width);
    const double top = legend_top + legend_height + 24, bottom = top + 320;
    y.from = bottom, y.to = top + 6;
    double labels = 0;
    for (const double t : ticks(y)) labels = std::max(labels, width_of(number(t)));
    const double width = std::max(
        {800.0, legend_width + margin, width_of(plot.title) * 1.3 + 2 * margin, width_of(plot.subtitle) + 2 * margin});
    x.from = margin + labels + 20, x.to = width - 2 * margin;
    std::string body = key + text_at(margin, top - 12, plot.y_axis);
    for (const double t : ticks(y)) {
        body += line_at(x.from - 8, y.at(t), x.to + 8, y.at(t), "grid");
        body += text_at(x.from - 14, y.at(t) + 4, number(t), "class=\"dim\" text-anchor=\"end\"");
    }
    for (const double t : x_ticks(x)) {
        body += line_at(x.at(t), bottom, x.at(t), bottom + 5, "grid");
        body += text_at(x.at(t), bottom + 20, number(t), "class=\"dim\" text-anchor=\"middle\"");
    }
    body += text_at((x.from + x.to) / 2, bottom + 40, plot.x_axis, "text-anchor=\"middle\"");
    for (size_t i = 0; i < plot.series.size(); ++i) body += series_body(plot.series[i], i, x, y);
    return page(width, bottom + 40 + margin, plot.title, plot.subtitle, body);
}

}  // namespace vkgemm::tool
