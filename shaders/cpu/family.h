// SPDX-License-Identifier: MIT
// The family for drivers that run on the CPU: the rules that the shader cpu relies on.
#pragma once
#include "plan/kernels/family.h"
#include "shaders/cpu/rows.h"

namespace vkgemm::plan::family {

inline constexpr Family cpu = {
    .name = "cpu",
    .reads = constant::of_every_product | constant::WG | constant::BM | constant::BN | constant::BK | constant::TM |
             constant::TN,
    .rules =
        [](const Tile& t, TileRules& r) {
            r.check(t.TM == t.BM, "an invocation computes all rows", "TM", t.TM, "BM", t.BM);
            r.check(t.BN == t.WG * t.TN, "the invocations must cover the columns exactly", "BN", t.BN, "WG*TN",
                    t.WG * t.TN);
            r.check(t.TM < CPU_ROWS || t.TM % CPU_ROWS == 0, "rows are summed abreast", "TM", t.TM, "a multiple of",
                    CPU_ROWS);
            r.check(t.BK >= 1 && t.BK <= 32, "1 to 32 steps of K make one block of code", "BK", t.BK, "limit", 32);
            r.check(uint64_t{t.TM} * t.TN * t.BK <= 2048, "the block of code must compile within seconds", "TM*TN*BK",
                    uint64_t{t.TM} * t.TN * t.BK, "limit", 2048);
        },
    .shared_bytes = no_shared_bytes,
    .refuses = refuses_nothing,
    .wants_addresses = true,
    .gpu_cost = {.mac = 1},  // nothing is shared
    .cpu_weight = 0.17,
    .cpu_extra_rows = 8,
};

}  // namespace vkgemm::plan::family
