// SPDX-License-Identifier: MIT
// Few rows by a B of a block format on the matrix units: the rules that the shader gemv_blocks_coopmat relies on.
#pragma once
#include "shaders/gemv_blocks/family.h"

namespace vkgemm::plan::family {

constexpr uint64_t gemv_coopmat_bytes(const Tile& t, const ElementBytes&, Type format) {
    const uint64_t step = uint64_t{t.TEAM} * 64, row_a = step / 8 + 1, row_b = 2 * t.TN + 1, row_d = t.SG / 4 + 1;
    const uint64_t a = t.BM * row_a, b = t.BN * ((staged_words(t, format) + 3) / 4 | 1) + 3, parts = t.WG * row_b;
    return 16 * std::max({a + std::max(b, parts), t.MM * row_a, t.WG / t.SG * t.MM * row_d});
}

namespace gemv_blocks {

inline constexpr Family coopmat = {
    .name = "gemv_blocks",
    .variant = "coopmat",
    .reads = constant::of_every_product | constant::WG | constant::BM | constant::BN | constant::BK | constant::TEAM |
             constant::STAGES | constant::DEPTH | constant::TN | constant::MM | constant::MN | constant::MK,
    .rules =
        [](const Tile& t, TileRules& r) {
            r.check(t.BM <= t.MM && t.MM <= 16, "rows are those of one matrix", "BM", t.BM, "MM", t.MM);
            r.check(t.STAGES == 2, "B is staged", "STAGES", t.STAGES, "is", 2);
            r.check(t.DEPTH == 1, "an invocation has 64 elements", "DEPTH", t.DEPTH, "is", 1);
            r.multiple("a slice of K is whole blocks", "BK", t.BK, "elements", 256);
            r.multiple("subgroups have whole columns", "BN", t.BN, "SG", t.SG);
            r.check(t.MN && (t.SG == t.MN || t.SG == 2 * t.MN), "a subgroup has one or two matrices", "SG", t.SG, "MN",
                    t.MN);
            r.multiple("a part of 64 elements is whole matrices", "16*TN", 16 * t.TN, "MK", t.MK);
            r.check(t.TN == 1 || t.TN == 2, "parts of 64 elements", "TN", t.TN, "at most", 2);
            r.check(t.WG == t.BN * t.TEAM, "an invocation has 64 elements", "WG", t.WG, "BN*TEAM", t.BN * t.TEAM);
        },
    .shared_bytes = [](const Tile& t, const ElementBytes& e) { return gemv_coopmat_bytes(t, e, least_chunk64); },
    .shared_bytes_of_format = gemv_coopmat_bytes,
    .refuses = [](const Problem& p) -> const char* {
        if (const char* why = plain.refuses(p)) return why;
        return p.a.type == bf16 ? "rounds to f16, which is not for bf16" : nullptr;
    },
    .sample = gemv_blocks_sample,
    .reads_chunk64 = true,
    .uses_matrix_units = true,
    .accuracy = VKGEMM_ACCURACY_NARROW,
    .gpu_cost = {.mac = 0.006, .bytes_per_cycle = 20, .reread = 0.5, .misaligned = 1.5, .decode = 0.006},
    .cpu_weight = 110,
};

}  // namespace gemv_blocks
}  // namespace vkgemm::plan::family
