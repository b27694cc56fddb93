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

std::string roof_text(const Roof& roof, double reached, bool integer, bool native) {
    if (!(roof.limit > 0)) return "";
    const bool bounded = !(native && roof.of_shaders && !roof.by_memory);
    char head[64], share[96] = "";
    std::snprintf(head, sizeof head, "%.4g %s/B: measured roof ", roof.intensity, integer ? "OP" : "FLOP");
    const double part = reached / roof.limit;
    const char* const disturbed = part > 1.1 && !roof.by_memory ? ", so the roof is too low" : "";
    if (reached > 0 && bounded) std::snprintf(share, sizeof share, "; reached %.0f %%%s", 100 * part, disturbed);
    if (!bounded) std::snprintf(share, sizeof share, " of shaders; native kernels may exceed it");
    return head + rate_text(roof.limit, integer) + (roof.by_memory ? ", by copy bandwidth" : ", by arithmetic") + share;
}

}  // namespace vkgemm::tool
