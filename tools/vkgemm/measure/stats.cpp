// SPDX-License-Identifier: MIT
#include "measure/stats.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace vkgemm::tool {

Summary summarise(std::vector<double> seconds) {
    if (seconds.empty()) return {};
    std::ranges::sort(seconds);
    const size_t n = seconds.size();
    const double median = n % 2 ? seconds[n / 2] : (seconds[n / 2 - 1] + seconds[n / 2]) / 2;
    const size_t at95 = (n * 95 + 99) / 100 - 1;
    return {.runs = n,
            .median = median,
            .min = seconds.front(),
            .max = seconds.back(),
            .p5 = seconds[n - 1 - at95],
            .p95 = seconds[at95]};
}

double drift_of(const std::vector<double>& seconds) {
    constexpr size_t least_runs = 12;
    constexpr double worth_a_word = 0.05, least_time = 0.05;  // seconds: clocks are not that quick
    if (seconds.size() < least_runs || std::accumulate(seconds.begin(), seconds.end(), 0.0) < least_time) return 0;
    const auto third = static_cast<std::ptrdiff_t>(seconds.size() / 3);
    std::vector<double> first(seconds.begin(), seconds.begin() + third), last(seconds.end() - third, seconds.end());
    std::ranges::sort(first);
    std::ranges::sort(last);
    const auto at = [](const std::vector<double>& sorted, size_t quarters) {
        return sorted[sorted.size() * quarters / 4];
    };
    const bool apart = at(first, 3) < at(last, 1) || at(last, 3) < at(first, 1);
    const double drift = at(first, 2) > 0 ? at(last, 2) / at(first, 2) - 1 : 0;
    return apart && std::abs(drift) >= worth_a_word ? drift : 0;
}

double scatter_of(const std::vector<double>& seconds) {
    constexpr size_t least_runs = 8;
    constexpr double worth_a_word = 0.2;
    if (seconds.size() < least_runs) return 0;
    std::vector<double> sorted = seconds;
    std::ranges::sort(sorted);
    const double median = summarise(seconds).median;
    const double apart = sorted[sorted.size() * 3 / 4] - sorted[sorted.size() / 4];
    return median > 0 && apart >= worth_a_word * median ? apart / median : 0;
}

size_t runs_in(double total, double seconds, size_t least, size_t most) {
    if (!(seconds > 0)) return most;
    const double count = std::ceil(total / seconds);
    return static_cast<size_t>(std::clamp(count, static_cast<double>(least), static_cast<double>(most)));
}

size_t runs_for(double seconds, double min_time, size_t wanted) {
    if (wanted) return wanted;
    if (min_time > 0) return runs_in(min_time, seconds, 3, 1'000'000);
    return seconds > 0.25 ? runs_in(5, seconds, 3, 20) : runs_in(0.5, seconds, 20, 1000);
}

size_t runs_per_submission(double seconds) { return runs_in(0.2, seconds, 1, 256); }

}  // namespace vkgemm::tool
