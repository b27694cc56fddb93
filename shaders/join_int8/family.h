// SPDX-License-Identifier: MIT
// The last pass of f64 from int8: the rules that the shader join_int8 relies on.
#pragma once
#include "plan/kernels/family.h"

namespace vkgemm::plan::family {

inline constexpr Family join_int8 = {
    .name = "join_int8",
    .reads = constant::WG | constant::BM | constant::BN | constant::SG,
    .rules =
        [](const Tile& t, TileRules& r) {
            r.check(t.BM == 1, "a work group finishes part of one row after another", "BM", t.BM, "rows", 1);
            r.check(t.BN == t.WG, "an invocation finishes one element", "BN", t.BN, "WG", t.WG);
        },
    .shared_bytes = no_shared_bytes,
    .refuses = [](const Problem&) -> const char* { return "joins sums of int8 and computes no product"; },
    .in_integers = true,
    .gpu_cost = {},
    .cpu_weight = 1,
};

}  // namespace vkgemm::plan::family
