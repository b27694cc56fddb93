// SPDX-License-Identifier: MIT
// The families for drivers that run on the CPU whose operands are panels: the rules that the shaders pack_panels and
// cpu_packed rely on.
#pragma once
#include "plan/kernels/family.h"

namespace vkgemm::plan::family {

inline constexpr uint32_t panel = 8;  // rows of A, or columns of B, and lanes of a vector

inline constexpr Family cpu_packed = {
    .name = "cpu_packed",
    .reads = constant::of_every_product | constant::WG | constant::BM | constant::BN | constant::BK | constant::TM,
    .rules =
        [](const Tile& t, TileRules& r) {
            r.check(t.WG == panel && t.SG == panel, "a work group is a vector", "WG, SG", t.WG, "must be", panel);
            if (t.TM == 0) return;  // pack_panels: BM rows are a panel
            r.check(t.BN == panel, "a work group is a vector of columns", "BN", t.BN, "must be", panel);
            r.check(t.TM == t.BM, "an invocation computes all rows", "TM", t.TM, "BM", t.BM);
            r.multiple("rows are whole panels", "TM", t.TM, "panel", panel);
            r.check(t.BK >= 1 && uint64_t{t.TM} * t.BK <= 2048, "the block of code must compile within seconds",
                    "TM*BK", uint64_t{t.TM} * t.BK, "limit", 2048);
        },
    .shared_bytes = no_shared_bytes,
    .refuses = [](const Problem& p) -> const char* {
        return p.batchInvariant ? "wants a workspace that grows with the batch; not for batchInvariant" : nullptr;
    },
    .wants_addresses = true,
    .packs_fragments = true,
    .gpu_cost = {.mac = 1},  // nothing is shared
    .cpu_weight = 0.115,     // the packer's for a byte that it reads or writes
};

constexpr Family packs_panels() {
    Family f = cpu_packed;
    f.name = "pack_panels";
    f.reads = constant::WG | constant::BM | constant::BN | constant::SG;
    f.refuses = packs_alone;
    return f;
}
inline constexpr Family pack_panels = packs_panels();

}  // namespace vkgemm::plan::family
