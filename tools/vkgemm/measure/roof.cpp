// SPDX-License-Identifier: MIT
#include "measure/roof.h"

#include <algorithm>
#include <cstdio>

#include "cli/text.h"

namespace vkgemm::tool {

std::optional<double> peak_of(double plain, std::optional<double> matrix) {
    if (!matrix) return plain;
    return *matrix > 0 ? std::optional(std::max(plain, *matrix)) : std::nullopt;
}

Roof roof_of(double flops, double bytes, double peak, double copied) {
    Roof roof;
    if (!(flops > 0) || !(bytes > 0)) return roof;
    roof.intensity = flops / bytes;
    const double moved = roof.intensity * copied;
    roof.by_memory = moved > 0 && (!(peak > 0) || moved < peak);
    roof.limit = roof.by_memory ? moved : peak;
    return roof;
}

std::string roof_text(const Roof& roof, double reached, bool integer) {
    if (!(roof.limit > 0)) return "";
    char head[64], share[32] = "";
    std::snprintf(head, sizeof head, "%.4g %s/B: measured roof ", roof.intensity, integer ? "OP" : "FLOP");
    if (reached > 0) std::snprintf(share, sizeof share, "; reached %.0f %%", 100 * reached / roof.limit);
    return head + rate_text(roof.limit, integer) + (roof.by_memory ? ", by copy bandwidth" : ", by arithmetic") + share;
}

}  // namespace vkgemm::tool
