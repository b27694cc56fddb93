// SPDX-License-Identifier: MIT
// The first pass for operands of another type than the product multiplies: the rules that the shader pack_convert
// relies on.
#pragma once
#include "plan/kernels/family.h"

namespace vkgemm::plan::family::pack {

inline constexpr Family convert = {
    .name = "pack",
    .variant = "convert",
    .reads = constant::WG | constant::BM | constant::BN | constant::SG,
    .rules =
        [](const Tile& t, TileRules& r) {
            r.multiple("a row of a tile is whole 16-byte chunks", "BN", t.BN, "elements", 8);
            r.multiple("the invocations take eight elements each at a time", "BM*BN", t.BM * t.BN, "8*WG", 8 * t.WG);
        },
    .shared_bytes = no_shared_bytes,
    .refuses = packs_alone,
    .gpu_cost = {},
    .cpu_weight = 1,
};

}  // namespace vkgemm::plan::family::pack
