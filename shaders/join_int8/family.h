// SPDX-License-Identifier: MIT
// The last passes of f64 from int8: the rules that the shaders join_int8 and finish_f64 rely on.
#pragma once
#include "plan/kernels/family.h"

namespace vkgemm::plan::family {

constexpr void rules_of_elements(const Tile& t, TileRules& r) {
    r.check(t.BM == 1, "a work group finishes part of one row after another", "BM", t.BM, "rows", 1);
    r.check(t.BN == t.WG, "an invocation finishes one element", "BN", t.BN, "WG", t.WG);
}

inline constexpr Family join_int8 = {
    .name = "join_int8",
    .reads = constant::WG | constant::BM | constant::BN | constant::SG,
    .rules = rules_of_elements,
    .shared_bytes = no_shared_bytes,
    .refuses = [](const Problem&) -> const char* { return "joins sums of int8 and computes no product"; },
    .in_integers = true,
    .gpu_cost = {},
    .cpu_weight = 1,
};

inline constexpr Family finish_f64 = {
    .name = "finish_f64",
    .reads = constant::WG | constant::BM | constant::BN | constant::SG,
    .rules = rules_of_elements,
    .shared_bytes = no_shared_bytes,
    .refuses = [](const Problem&) -> const char* { return "finishes what join_int8 leaves and computes no product"; },
    .in_integers = true,
    .gpu_cost = {},
    .cpu_weight = 1,
};

}  // namespace vkgemm::plan::family
