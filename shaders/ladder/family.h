// SPDX-License-Identifier: MIT
// The families of the ladder: the rules that the shaders naive, tiled, vec4 and block rely on.
#pragma once
#include "plan/kernels/family.h"
#include "shaders/ladder/shared_memory.h"

namespace vkgemm::plan::family {

inline constexpr Constants ladder_constants =
    constant::of_every_product | constant::WG | constant::BM | constant::BN | constant::TM | constant::TN;

inline constexpr Family naive = {
    .name = "naive",
    .reads = ladder_constants,
    .rules =
        [](const Tile& t, TileRules& r) {
            r.check(t.BM * t.BN == t.WG, "every invocation computes one element", "BM*BN", t.BM * t.BN, "WG", t.WG);
            r.check(t.TM == 1 && t.TN == 1, "every invocation computes one element", "TM*TN", t.TM * t.TN, "must be",
                    1);
        },
    .shared_bytes = no_shared_bytes,
    .refuses = refuses_nothing,
    .takes_pairs = true,
    .gpu_cost = {.mac = 0.31,
                 .load = 0.00731,
                 .own = 3.88,
                 .own_load = 19.4,
                 .per_k = 19.4,
                 .step = 58.2,
                 .issue = 21.3,
                 .element = 0.03,
                 .ragged = 0.02,
                 .group = 283,
                 .start = 81.1,
                 .launch = 4000,
                 .bytes_per_cycle = 21,
                 .overlaps = true,
                 .misaligned = 1.02,
                 .not_whole = 0.0457},
    .cpu_weight = 12,
    .cpu_beyond_cache = 2,
};

inline constexpr Family tiled = {
    .name = "tiled",
    .reads = ladder_constants | constant::BK,
    .rules =
        [](const Tile& t, TileRules& r) {
            r.check(t.BM * t.BN == t.WG, "every invocation computes one element", "BM*BN", t.BM * t.BN, "WG", t.WG);
            r.check(t.TM == 1 && t.TN == 1, "every invocation computes one element", "TM*TN", t.TM * t.TN, "must be",
                    1);
            r.check(t.BK >= 1, "a tile has some depth", "BK", t.BK, "least", 1);
        },
    .shared_bytes = [](const Tile& t, const ElementBytes& e) -> uint64_t {
        return uint64_t{e.accumulator} * (TILED_A(t.BM, t.BN, t.BK) + TILED_B(t.BM, t.BN, t.BK));
    },
    .refuses = refuses_nothing,
    .takes_pairs = true,
    .gpu_cost = {.mac = 0.0988,
                 .load = 0.00452,
                 .own = 2,
                 .own_load = 10.9,
                 .per_k = 11.5,
                 .step = 1070,
                 .together = 3.59,
                 .issue = 23.6,
                 .element = 0.0299,
                 .ragged = 0.02,
                 .group = 251,
                 .start = 83.4,
                 .launch = 4000,
                 .bytes_per_cycle = 21,
                 .overlaps = true,
                 .misaligned = 1.16,
                 .misaligned_along = 1.17,
                 .not_whole = 0.045,
                 .a_along = 0.889,
                 .b_along = 1.06},
    .cpu_weight = 7,
    .cpu_mixed_weight = 64,
};

inline constexpr Family vec4 = {
    .name = "vec4",
    .reads = ladder_constants | constant::BK,
    .rules =
        [](const Tile& t, TileRules& r) {
            r.check(t.BK * t.BK == t.WG, "the work group is a square as wide as the tiles are deep", "BK*BK",
                    t.BK * t.BK, "WG", t.WG);
            r.multiple("an invocation computes whole vectors of rows", "TM", t.TM, "vector", 4);
            r.multiple("an invocation computes whole vectors of columns", "TN", t.TN, "vector", 4);
            r.check(t.BM == t.BK * t.TM, "the square must cover the rows of the block", "BM", t.BM, "BK*TM",
                    t.BK * t.TM);
            r.check(t.BN == t.BK * t.TN, "the square must cover the columns of the block", "BN", t.BN, "BK*TN",
                    t.BK * t.TN);
            r.check(t.TM * t.TN <= 256, "accumulators must fit the registers", "TM*TN", t.TM * t.TN, "limit", 256);
        },
    .shared_bytes = [](const Tile& t, const ElementBytes& e) -> uint64_t {
        return uint64_t{e.accumulator} * (TILED_A(t.BM, t.BN, t.BK) + TILED_B(t.BM, t.BN, t.BK));
    },
    .refuses = refuses_nothing,
    .gpu_cost = {.mac = 0.0123,
                 .load = 0.0043,
                 .own = 1,
                 .own_load = 10.1,
                 .per_k = 10.4,
                 .step = 1660,
                 .together = 3.88,
                 .prologue = 0.091,
                 .issue = 58.3,
                 .element = 0.0701,
                 .ragged = 0.0194,
                 .group = 381,
                 .start = 115,
                 .launch = 4000,
                 .bytes_per_cycle = 21,
                 .overlaps = true,
                 .misaligned = 1.17,
                 .misaligned_along = 1.22,
                 .not_whole = 0.0511,
                 .a_along = 1.17,
                 .b_along = 1.11},
    .cpu_weight = 1.0,
};

inline constexpr Family block = {
    .name = "block",
    .reads = ladder_constants | constant::BK,
    .rules =
        [](const Tile& t, TileRules& r) {
            r.multiple("a block must be a whole number of invocation tiles", "BM", t.BM, "TM", t.TM);
            r.multiple("a block must be a whole number of invocation tiles", "BN", t.BN, "TN", t.TN);
            r.check(t.TM && t.TN && (t.BM / t.TM) * (t.BN / t.TN) == t.WG,
                    "the invocation tiles must fill the work group exactly", "(BM/TM)*(BN/TN)",
                    t.TM && t.TN ? (t.BM / t.TM) * (t.BN / t.TN) : 0, "WG", t.WG);
            for (const auto& [name, value] : {std::pair{"BM", t.BM}, {"BN", t.BN}, {"BK", t.BK}})
                r.multiple("tiles are copied four neighbours at a time", name, value, "vector", 4);
            r.check(t.TM * t.TN <= 256, "accumulators must fit the registers", "TM*TN", t.TM * t.TN, "limit", 256);
        },
    .shared_bytes = [](const Tile& t, const ElementBytes& e) -> uint64_t {
        return uint64_t{e.accumulator} * (BLOCK_A(t.BM, t.BN, t.BK) + BLOCK_B(t.BM, t.BN, t.BK));
    },
    .refuses = refuses_nothing,
    .gpu_cost = {.mac = 0.0209,
                 .load = 0.00402,
                 .own = 1,
                 .own_load = 10.6,
                 .per_k = 9.98,
                 .step = 1920,
                 .together = 4.18,
                 .prologue = 0.34,
                 .issue = 51.1,
                 .element = 0.108,
                 .ragged = 0.026,
                 .group = 355,
                 .start = 151,
                 .launch = 4000,
                 .bytes_per_cycle = 21,
                 .overlaps = true,
                 .misaligned = 1.38,
                 .misaligned_along = 1.35,
                 .not_whole = 0.0519,
                 .a_along = 0.901,
                 .b_along = 0.938},
    .cpu_weight = 1.1,
};

}  // namespace vkgemm::plan::family
