// SPDX-License-Identifier: MIT
#include "tools/vkgemm/stats.h"

#include <algorithm>
#include <cmath>

namespace vkgemm::tool {

Summary summarise(std::vector<double> seconds) {
    if (seconds.empty()) return {};
    std::ranges::sort(seconds);
    const size_t n = seconds.size();
    const double median = n % 2 ? seconds[n / 2] : (seconds[n / 2 - 1] + seconds[n / 2]) / 2;
    const size_t at95 = (n * 95 + 99) / 100 - 1;
    return {.runs = n, .median = median, .min = seconds.front(), .max = seconds.back(), .p95 = seconds[at95]};
}

size_t runs_in(double total, double seconds, size_t least, size_t most) {
    if (!(seconds > 0)) return most;
    const double count = std::ceil(total / seconds);
    return static_cast<size_t>(std::clamp(count, static_cast<double>(least), static_cast<double>(most)));
}

size_t runs_for(double seconds, double min_time, size_t wanted) {
    if (wanted) return wanted;
    return seconds > 0.25 ? runs_in(5, seconds, 3, 20) : runs_in(min_time, seconds, 20, 1000);
}

size_t runs_per_submission(double seconds) { return runs_in(0.2, seconds, 1, 256); }

}  // namespace vkgemm::tool
