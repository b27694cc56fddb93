// SPDX-License-Identifier: MIT
// The pass before a grouped product: the shader list_tiles. Its BM and BN equal the product's.
#pragma once
#include "plan/kernels/family.h"
#include "shaders/list_tiles/report.h"

namespace vkgemm::plan::family {

inline constexpr Family list_tiles = {
    .name = "list_tiles",
    .reads = constant::WG | constant::BM | constant::BN | constant::SG,
    .rules =
        [](const Tile& t, TileRules& r) {
            r.check(t.WG <= LIST_TILES_MOST_INVOCATIONS, "shared memory has a place for each invocation", "WG", t.WG,
                    "limit", LIST_TILES_MOST_INVOCATIONS);
        },
    .shared_bytes = [](const Tile&, const ElementBytes&) -> uint64_t {
        return 4 * (LIST_TILES_MOST_INVOCATIONS + REPORT_WORDS);
    },
    .refuses = [](const Problem&) -> const char* { return "lists the tiles of groups and computes no product"; },
    .wants_addresses = true,
    .gpu_cost = {},
    .cpu_weight = 1,
};

}  // namespace vkgemm::plan::family
