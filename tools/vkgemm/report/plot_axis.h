// SPDX-License-Identifier: MIT
// Axes of pictures (plot.h): from values to pixels, and where they are labelled. Pure.
#pragma once
#include <string>
#include <vector>

namespace vkgemm::tool::draw {

inline constexpr double legend_height = 26;  // pixels

/// From values to pixels along one axis.
struct Scale {
    double low = 0, high = 1, from = 0, to = 1;
    bool logarithmic = false;
    double at(double value) const;
};

/// An axis of values from 0, or between powers of ten where they are too far apart to compare lengths.
Scale value_scale(double least, double most, bool logarithmic);

/// A logarithmic axis no longer than it must be: from 1, 2 or 5 times a power of ten to another of them. `least` is
/// over 0.
Scale fitted_scale(double least, double most);

/// Where an axis of values is labelled: at every power of ten, at 1, 2 and 5 times them where there are few, or about
/// five times, evenly, from 0.
std::vector<double> ticks(const Scale& scale);
/// Where an axis of sizes is: at powers of two, or evenly.
std::vector<double> size_ticks(const Scale& scale);

}  // namespace vkgemm::tool::draw
