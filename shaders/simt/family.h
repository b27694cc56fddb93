// SPDX-License-Identifier: MIT
// The family of ordinary arithmetic: the rules that the shader simt relies on.
#pragma once
#include <algorithm>

#include "plan/kernels/family.h"
#include "shaders/simt/shared_memory.h"

namespace vkgemm::plan::family {

inline constexpr Family simt = {
    .name = "simt",
    .reads = constant::of_every_product | constant::WG | constant::BM | constant::BN | constant::BK | constant::WM |
             constant::WN | constant::TM | constant::TN | constant::STAGES,
    .rules =
        [](const Tile& t, TileRules& r) {
            r.check(t.STAGES == 0 || t.STAGES == 3, "STAGES is 0 or 3", "STAGES", t.STAGES, "at most", 3);
            r.multiple("an invocation computes whole vectors of rows", "TM", t.TM, "vector", 4);
            r.multiple("an invocation computes whole vectors of columns", "TN", t.TN, "vector", 4);
            r.multiple("a team's part must be whole invocation tiles", "WM", t.WM, "TM", t.TM);
            r.multiple("a team's part must be whole invocation tiles", "WN", t.WN, "TN", t.TN);
            r.multiple("a block must be whole parts of teams", "BM", t.BM, "WM", t.WM);
            r.multiple("a block must be whole parts of teams", "BN", t.BN, "WN", t.WN);
            if (r.count) return;
            r.check((t.WM / t.TM) * (t.WN / t.TN) == SIMT_TEAM, "a team's part must be filled exactly",
                    "(WM/TM)*(WN/TN)", (t.WM / t.TM) * (t.WN / t.TN), "team", SIMT_TEAM);
            r.check((t.BM / t.WM) * (t.BN / t.WN) * SIMT_TEAM == t.WG, "the teams must fill the work group exactly",
                    "(BM/WM)*(BN/WN)*team", (t.BM / t.WM) * (t.BN / t.WN) * SIMT_TEAM, "WG", t.WG);
            r.check(t.TM * t.TN <= 256, "accumulators must fit the registers", "TM*TN", t.TM * t.TN, "limit", 256);
            // Copying: every invocation takes vectors of both tiles, whichever their layout.
            for (const auto& [name, side] : {std::pair{"BM", t.BM}, {"BN", t.BN}, {"BK", t.BK}}) {
                r.multiple("tiles are copied four neighbours at a time", name, side, "vector", 4);
                const uint32_t third = side / 12;  // of a row of BM or BN elements, in vectors
                if (side % 12 == 0 && side != t.BK && t.WG % (side / 3) == 0 && t.BK * third % t.WG == 0) continue;
                if (side % 4 == 0 && side)
                    r.multiple("rows of a tile are copied by whole numbers of invocations", "WG", t.WG, name, side / 4);
            }
            // Rows of a k-contiguous operand that an invocation copies by single elements (simt_copy.glsl).
            const uint32_t parts = !t.BK || t.WG % t.BK == 0 ? 1 : 2 * t.WG % t.BK == 0 ? 2 : 4;
            const uint32_t apart = t.BK ? t.WG * parts / t.BK : 0;
            r.check(apart % 4 == 0 || apart == 1 || apart == 2,
                    "rows that an invocation copies must be 1, 2 or a multiple of 4 apart", "WG", t.WG, "BK", t.BK);
            r.multiple("the invocations must share the A tile evenly", "BM*BK/4", t.BM * t.BK / 4, "WG", t.WG);
            r.multiple("the invocations must share the B tile evenly", "BN*BK/4", t.BN * t.BK / 4, "WG", t.WG);
        },
    .shared_bytes = [](const Tile& t, const ElementBytes& e) -> uint64_t {
        return uint64_t{e.accumulator} * (SIMT_A(t.BM, t.BN, t.BK) + SIMT_B(t.BM, t.BN, t.BK));
    },
    .refuses = refuses_nothing,
    .pads_sums = true,
    .registers = [](const Tile& t, const ElementBytes& e) -> double {
        const uint32_t words = e.accumulator / 4;
        const double copied = double(t.BM + t.BN) * t.BK / t.WG;
        if (t.STAGES == 3) return words * (t.TM * t.TN + std::max<double>(t.TM + t.TN, copied)) + 26;
        return words * (t.TM * t.TN + 2 * (t.TM + t.TN) + copied) + 30;
    },
    // With STAGES 3 either the vectors of one k or the tile in flight.
    .live_registers = [](const Tile& t, const ElementBytes& e, const Registers&) -> double {
        const double sums = t.TM * t.TN * (e.a == 1 ? 2 : 1);  // of bytes, the next ones are made beside them
        const double copied = double(t.BM + t.BN) * t.BK / t.WG;
        const uint32_t words = e.accumulator / 4, decoded = e.a == e.b ? 0 : 21;
        if (t.STAGES == 3) return words * (sums + std::max<double>(t.TM + t.TN, copied)) + decoded + 26;
        return words * (sums + 2 * (t.TM + t.TN) + copied) + decoded + 36;
    },
    // Such an operand is copied element by element. With STAGES 3 the vectors of one k have made room for half of it.
    .narrow_registers = [](const Tile& t, const ElementBytes&, const Registers& r, bool is_b) -> double {
        return r.more_if_narrow * (is_b ? t.BN : t.BM) * t.BK / t.WG / (t.STAGES == 3 ? 2 : 1);
    },
    .free_edges = true,
    .gpu_cost = {.mac = 0.00438,
                 .fragment_load = 0.0175,
                 .load = 0.00285,
                 .own = 2.48,
                 .own_load = 13.1,
                 .per_k = 9.39,
                 .step = 381,
                 .step_in_turn = 583,
                 .together = 6.45,
                 .prologue = 0.213,
                 .issue = 25.1,
                 .element = 0.117,
                 .ragged = 0.05,
                 .group = 184,
                 .start = 34.2,
                 .launch = 4000,
                 .bytes_per_cycle = 21,
                 .overlaps = true,
                 .misaligned = 1.09,
                 .misaligned_along = 1.09,
                 .not_whole = 0.01,
                 .k_contiguous = 1.03,
                 .a_along = 0.99,
                 .b_along = 0.957},
    .cpu_weight = 4,
};

}  // namespace vkgemm::plan::family
