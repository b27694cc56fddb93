// SPDX-License-Identifier: MIT
#include "report/plot_axis.h"

#include <cmath>

namespace vkgemm::tool::draw {
namespace {

constexpr double round_numbers[] = {1, 2, 5};          // and ten times them, and so on
constexpr double smallest = 1e-300, greatest = 1e300;  // on an axis: their neighbours are numbers, too

double drawable(double value) { return std::fmax(smallest, std::fmin(value, greatest)); }

/// One of them: a step that gives about five of them up to `high`.
double nice_step(double high) {
    const double rough = high / 5, power = std::pow(10, std::floor(std::log10(rough)));
    for (const double factor : round_numbers)
        if (factor * power >= rough * 0.999) return factor * power;
    return 10 * power;
}

}  // namespace

double Scale::at(double value) const {
    const double part = logarithmic ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
    return from + part * (to - from);
}

Scale value_scale(double least, double most, bool logarithmic) {
    if (!logarithmic) return {.low = 0, .high = most > 0 ? drawable(most) : 1};
    least = drawable(least);
    most = drawable(most);
    Scale s{.low = std::pow(10, std::floor(std::log10(least))), .high = std::pow(10, std::ceil(std::log10(most)))};
    if (s.high <= s.low) s.high = 10 * s.low;
    s.logarithmic = true;
    return s;
}

Scale fitted_scale(double least, double most) {
    least = drawable(least);
    most = drawable(most);
    Scale s{.low = 0, .high = 0, .logarithmic = true};
    for (double power = std::pow(10, std::floor(std::log10(least))); s.high <= s.low; power *= 10)
        for (const double factor : round_numbers) {
            if (factor * power <= least * 1.001) s.low = factor * power;
            if (s.high <= s.low && factor * power >= most * 0.999) s.high = factor * power;
        }
    return s;
}

std::vector<double> ticks(const Scale& scale) {
    std::vector<double> all;
    if (scale.logarithmic) {
        const bool few = scale.high < 100 * scale.low;
        for (double power = std::pow(10, std::floor(std::log10(scale.low))); power <= scale.high * 1.001; power *= 10)
            for (const double factor : round_numbers)
                if ((few || factor == 1) && factor * power >= scale.low * 0.999 && factor * power <= scale.high * 1.001)
                    all.push_back(factor * power);
        return all;
    }
    const double step = nice_step(scale.high);
    for (int i = 0; i * step <= scale.high * 1.001; ++i) all.push_back(i * step);
    return all;
}

std::vector<double> size_ticks(const Scale& x) {
    std::vector<double> all;
    if (x.logarithmic) {
        constexpr double label_spacing = 64;
        const double first = std::exp2(std::ceil(std::log2(x.low)));
        double factor = 2;
        while (std::fabs(x.to - x.from) * std::log(factor) < label_spacing * std::log(x.high / x.low)) factor *= 2;
        for (double t = first; t <= x.high * 1.001; t *= factor) all.push_back(t);
        return all;
    }
    const double step = nice_step(x.high - x.low);
    for (double t = std::ceil(x.low / step) * step; t <= x.high + step / 1000; t += step) all.push_back(t);
    return all;
}

}  // namespace vkgemm::tool::draw
