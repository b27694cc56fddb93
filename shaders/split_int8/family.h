// SPDX-License-Identifier: MIT
// The first pass of f64 from int8: the rules that the shader split_int8 relies on.
#pragma once
#include "plan/kernels/family.h"
#include "shaders/split_int8/shared_memory.h"

namespace vkgemm::plan::family {

inline constexpr Family split_int8 = {
    .name = "split_int8",
    .reads = constant::WG | constant::BM | constant::BN | constant::SG,
    .rules =
        [](const Tile& t, TileRules& r) {
            r.multiple("rows have equally many invocations", "WG", t.WG, "BM", t.BM);
            r.multiple("a row of the tile is whole words of int8", "BN", t.BN, "elements", 4);
        },
    .shared_bytes = [](const Tile& t, const ElementBytes&) -> uint64_t {
        return uint64_t{8} * (SPLIT_INT8_TILE(t.BM, t.BN) + t.WG + t.BM);
    },
    .refuses = [](const Problem&) -> const char* { return "splits an operand into int8 and computes no product"; },
    .in_integers = true,
    .gpu_cost = {},
    .cpu_weight = 1,
};

}  // namespace vkgemm::plan::family
