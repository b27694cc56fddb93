// SPDX-License-Identifier: MIT
// Pictures as SVG that stand alone: they follow the reader's light or dark setting, and name their units. Pure.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace vkgemm::tool {

struct Bar {
    size_t series = 0;
    double value = 0;  // not positive: nothing is drawn, only the text stands there
    std::string text;  // at its end
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

struct LineSeries {
    std::string name;
    std::vector<std::pair<double, double>> points;  // by growing x
};

/// Lines over x, from y = 0 unless y is to be logarithmic; x becomes it when it spans more than a factor of 8.
struct LinePlot {
    std::string title{}, subtitle{}, x_axis{}, y_axis{};
    std::vector<LineSeries> series{};
    bool logarithmic = false;  // y
};
std::string svg(const LinePlot& plot);

}  // namespace vkgemm::tool
