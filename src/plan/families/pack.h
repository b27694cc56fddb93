// SPDX-License-Identifier: MIT
// The first pass of a product whose operands are misaligned or have an unfavourable layout (shader pack).
#pragma once
#include "plan/families/family.h"

namespace vkgemm::plan::family {

inline constexpr Family pack = {
    .name = "pack",
    .reads = constant::WG | constant::BM | constant::BN | constant::TM | constant::TN | constant::SG,
    .rules =
        [](const Tile& t, TileRules& r) {
            r.multiple("a tile is whole 16-byte chunks", "BM", t.BM, "chunk", 16);
            r.multiple("a tile is whole 16-byte chunks", "BN", t.BN, "chunk", 16);
        },
    .shared_bytes = [](const Tile& t, const ElementBytes&) -> uint64_t { return uint64_t{4} * t.BM * (t.BN + 1); },
    .refuses = [](const Problem&) -> const char* {
        return "brings an operand into shape for another kernel, never a product by itself";
    },
    .gpu_cost = {},
    .cpu_weight = 1,
};

}  // namespace vkgemm::plan::family
