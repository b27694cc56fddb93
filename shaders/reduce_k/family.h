// SPDX-License-Identifier: MIT
// The second pass of split-K: the rules that the shader reduce_k relies on.
#pragma once
#include "plan/kernels/family.h"

namespace vkgemm::plan::family {

inline constexpr Family reduce_k = {
    .name = "reduce_k",
    .reads = constant::WG | constant::BM | constant::BN | constant::TEAM | constant::SG,
    .rules =
        [](const Tile& t, TileRules& r) {
            r.check(t.BM == 1, "a work group finishes part of one row after another", "BM", t.BM, "rows", 1);
            r.check(t.TEAM >= 1 && t.TEAM <= 64, "1 to 64 invocations share four columns", "TEAM", t.TEAM, "limit", 64);
            r.multiple("teams must fill the work group exactly", "WG", t.WG, "TEAM", t.TEAM);
            if (r.count) return;
            r.check(t.BN == 4 * (t.WG / t.TEAM), "a team takes four columns", "BN", t.BN, "4*WG/TEAM",
                    4 * (t.WG / t.TEAM));
        },
    .shared_bytes = [](const Tile& t, const ElementBytes& e) -> uint64_t {
        return uint64_t{4} * e.accumulator * (t.TEAM > 1 ? t.WG : 1);
    },
    .refuses = [](const Problem&) -> const char* { return "adds the slices of a split K and computes no product"; },
    .gpu_cost = {},
    .cpu_weight = 1,
};

}  // namespace vkgemm::plan::family
