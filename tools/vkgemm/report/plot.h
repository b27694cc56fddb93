// SPDX-License-Identifier: MIT
// Self-contained SVG pictures, which follow the reader's light or dark setting. Pure.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace vkgemm::tool {

/// A thin line through a value, as from the 5th to the 95th percentile. None if `low` is not below `high`.
struct Spread {
    double low = 0, high = 0;
};

struct Bar {
    size_t series = 0;
    double value = 0;  // if not positive, only the text is drawn
    std::string text;  // at its end
    Spread spread{};
};

struct BarGroup {
    std::string label;
    std::vector<Bar> bars;
    double mark = 0;  // a line across the group; 0: none
};

/// Horizontal bars in groups. Values more than a hundredfold apart become dots on a logarithmic axis.
struct BarPlot {
    std::string title{}, subtitle{}, axis{};  // the axis with its unit
    std::vector<std::string> series{};
    std::string mark{};  // what a group's mark stands for
    std::vector<BarGroup> groups{};
};
std::string svg(const BarPlot& plot);

struct LinePoint {
    double x = 0, y = 0;
    Spread spread{};  // of y
};
struct LineSeries {
    std::string name;
    std::vector<LinePoint> points;  // by growing x
};

/// Lines over y from 0, or over a logarithmic y.
struct LinePanel {
    std::string title{}, y_axis{};
    std::vector<LineSeries> series{};
    bool logarithmic = false;  // y
};

/// Panels, one below the other, over one axis of sizes. The axis is logarithmic if it spans more than a factor of 8. If
/// some sizes are too close together to be distinguished, each size gets a place of its own.
struct LinePlot {
    std::string title{}, subtitle{}, x_axis{};
    std::vector<LinePanel> panels{};
};
std::string svg(const LinePlot& plot);

struct PlotPoint {
    double x = 0, y = 0;  // x over 0
    std::string label;    // beside it; may be empty
};
struct PointSeries {
    std::string name;
    std::vector<PlotPoint> points;
};

/// Points over a logarithmic x, from y = 0.
struct PointPlot {
    std::string title{}, subtitle{}, x_axis{}, y_axis{};
    std::vector<PointSeries> series{};
};
std::string svg(const PointPlot& plot);

}  // namespace vkgemm::tool
