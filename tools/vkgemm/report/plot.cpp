// SPDX-License-Identifier: MIT
// Pictures of bars.
#include "report/plot.h"

#include <algorithm>
#include <cmath>

#include "report/plot_axis.h"
#include "report/svg.h"

namespace vkgemm::tool {
using namespace draw;
namespace {

// Pixels.
constexpr double bar_height = 12, bar_gap = 2, group_gap = 10, axis_height = 44;

Scale scale_of(const BarPlot& plot) {
    double least = HUGE_VAL, most = 0;
    const auto note = [&](double value) {
        if (value > 0) {
            least = std::min(least, value);
            most = std::max(most, value);
        }
    };
    for (const BarGroup& g : plot.groups) {
        note(g.mark);
        for (const Bar& b : g.bars) {
            note(b.value);
            if (b.spread.low < b.spread.high) note(b.spread.high);
        }
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
        double end = x;  // of what is drawn
        if (bar.value > 0 && bar.spread.low > 0 && bar.spread.low < bar.spread.high) {
            const double low = std::max(scale.from, scale.at(bar.spread.low));
            end = std::max(x, scale.at(bar.spread.high));
            body += line_at(low, middle, scale.at(bar.spread.high), middle, "spread");
        }
        body += text_at((apart ? scale.to : end) + 10, y + bar_height - 2, bar.text,
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
        body += text_at(scale.at(t), top + height + 16, number(t), R"(class="dim" text-anchor="middle")");
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

}  // namespace vkgemm::tool
