// SPDX-License-Identifier: MIT
// The second pass of split-K (shader reduce_k).
#pragma once
#include "plan/families.h"

namespace vkgemm::plan::family {

inline constexpr Family reduce_k = {
    .name = "reduce_k",
    .reads = constant::WG | constant::BM | constant::BN | constant::TM | constant::TN | constant::SG,
    .rules =
        [](const Tile& t, TileRules& r) {
            r.check(t.BM == 1 && t.BN == t.WG, "neighbouring invocations take neighbouring columns", "BN", t.BN, "WG",
                    t.WG);
        },
    .shared_bytes = [](const Tile&, const ElementBytes&) -> uint64_t { return 0; },
    .refuses = [](const Problem&) -> const char* {
        return "is the second pass of a split product, never a product by itself";
    },
    .is_reducer = true,
    .gpu_weight = 1,
    .cpu_weight = 1,
};

}  // namespace vkgemm::plan::family
