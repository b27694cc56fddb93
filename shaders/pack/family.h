// SPDX-License-Identifier: MIT
// The first pass for operands that are misaligned or in an unfavourable layout: the rules that the shader pack relies
// on.
#pragma once
#include "plan/kernels/family.h"
#include "shaders/pack/shared_memory.h"

namespace vkgemm::plan::family::pack {

inline constexpr Family plain = {
    .name = "pack",
    .reads = constant::WG | constant::BM | constant::BN | constant::SG,
    .rules =
        [](const Tile& t, TileRules& r) {
            r.multiple("a tile is whole 16-byte chunks", "BM", t.BM, "elements", 16);
            r.multiple("a tile is whole 16-byte chunks", "BN", t.BN, "elements", 16);
        },
    .shared_bytes = [](const Tile& t, const ElementBytes& e) -> uint64_t {
        return uint64_t{4} * PACK_CELLS(t.BM, t.BN, e.a);
    },
    .refuses = packs_alone,
    .gpu_cost = {},
    .cpu_weight = 1,
};

}  // namespace vkgemm::plan::family::pack
