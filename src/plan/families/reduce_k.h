// SPDX-License-Identifier: MIT
// The second pass of split-K (shader reduce_k).
#pragma once
#include "plan/families/family.h"

namespace vkgemm::plan::family {

inline constexpr Family reduce_k = {
    .name = "reduce_k",
    .reads = constant::WG | constant::BM | constant::BN | constant::TM | constant::TN | constant::SG,
    .rules =
        [](const Tile& t, TileRules& r) {
            r.check(t.BM == 1, "a work group finishes part of one row after another", "BM", t.BM, "rows", 1);
            r.check(t.TM >= 1 && t.TM <= 64, "up to 64 invocations share a quad", "TM", t.TM, "limit", 64);
            r.multiple("teams must fill the work group exactly", "WG", t.WG, "TM", t.TM);
            if (r.count) return;
            r.check(t.BN == 4 * (t.WG / t.TM), "a team takes four columns", "BN", t.BN, "4*WG/TM", 4 * (t.WG / t.TM));
        },
    .shared_bytes = [](const Tile& t, const ElementBytes& e) -> uint64_t {
        return uint64_t{4} * e.accumulator * (t.TM > 1 ? t.WG : 1);
    },
    .refuses = [](const Problem&) -> const char* {
        return "is the second pass of a split product, never a product by itself";
    },
    .gpu_cost = {},
    .cpu_weight = 1,
};

}  // namespace vkgemm::plan::family
