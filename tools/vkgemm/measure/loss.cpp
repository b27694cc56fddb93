// SPDX-License-Identifier: MIT
#include "measure/loss.h"

#include <algorithm>
#include <cmath>

namespace vkgemm::tool {

size_t Regret::best() const {
    size_t best = chosen;
    for (size_t i = 0; i < tried.size(); ++i)
        if (tried[i].is_final && tried[i].seconds < tried[best].seconds) best = i;
    return best;
}

Losses summarise_losses(std::vector<double> losses) {
    if (losses.empty()) return {};
    std::ranges::sort(losses);
    const size_t n = losses.size();
    double logs = 0;
    for (const double loss : losses) logs += std::log1p(-loss);
    return {.problems = n,
            .mean = 0 - std::expm1(logs / static_cast<double>(n)),  // never -0
            .worst_twentieth = losses[(n * 95 + 99) / 100 - 1],
            .worst = losses.back()};
}

}  // namespace vkgemm::tool
