// SPDX-License-Identifier: MIT
#include "report/plot_axis.h"

#include <cmath>
#include <cstdint>

namespace vkgemm::tool::draw {
namespace {

constexpr double round_numbers[] = {1, 2, 5};          // and ten times them, and so on
constexpr double smallest = 1e-300, greatest = 1e300;  // on an axis: their neighbours are numbers, too

double drawable(double value) { return std::fmax(smallest, std::fmin(value, greatest)); }

int64_t floor_of(double value) { return std::llround(std::floor(value)); }
int64_t ceil_of(double value) { return std::llround(std::ceil(value)); }

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
    for (int64_t exponent = floor_of(std::log10(least)); s.high <= s.low; ++exponent)
        for (const double factor : round_numbers) {
            const double x = factor * std::pow(10, exponent);
            if (x <= least * 1.001) s.low = x;
            if (s.high <= s.low && x >= most * 0.999) s.high = x;
        }
    return s;
}

std::vector<double> ticks(const Scale& scale) {
    std::vector<double> all;
    if (scale.logarithmic) {
        const bool few = scale.high < 100 * scale.low;
        const int64_t first = floor_of(std::log10(scale.low)), last = floor_of(std::log10(scale.high * 1.001));
        for (int64_t exponent = first; exponent <= last; ++exponent)
            for (const double factor : round_numbers) {
                const double x = factor * std::pow(10, exponent);
                if ((few || factor == 1) && x >= scale.low * 0.999 && x <= scale.high * 1.001) all.push_back(x);
            }
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
        const double octaves = std::log2(x.high / x.low);
        int64_t every = 1;
        while (std::fabs(x.to - x.from) * static_cast<double>(every) < label_spacing * octaves) ++every;
        const int64_t first = ceil_of(std::log2(x.low)), last = floor_of(std::log2(x.high * 1.001));
        for (int64_t octave = first; octave <= last; octave += every) all.push_back(std::exp2(octave));
        return all;
    }
    const double step = nice_step(x.high - x.low);
    const int64_t first = ceil_of(x.low / step), last = floor_of(x.high / step + 0.001);
    for (int64_t i = first; i <= last; ++i) all.push_back(static_cast<double>(i) * step);
    return all;
}

}  // namespace vkgemm::tool::draw
