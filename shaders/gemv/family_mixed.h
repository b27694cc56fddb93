// SPDX-License-Identifier: MIT
// The family of few rows or few columns of mixed types: the rules that the shader gemv_mixed relies on.
#pragma once
#include "shaders/common/shared_memory.h"
#include "shaders/gemv/family.h"

namespace vkgemm::plan::family::gemv {

inline constexpr Family mixed = {
    .name = "gemv",
    .variant = "mixed",
    .reads = constant::of_every_product | constant::WG | constant::BM | constant::BN | constant::BK | constant::TEAM,
    .rules =
        [](const Tile& t, TileRules& r) {
            const auto [out, vectors] = gemv_rules::shape(t);
            r.check(vectors <= 16, "the short side is at most 16", "min(BM,BN)", vectors, "limit", 16);
            r.multiple("a team takes whole blocks", "TEAM", t.TEAM, "segments", 4);
            r.multiple("teams must fill the work group exactly", "WG", t.WG, "TEAM", t.TEAM);
            r.multiple("a slice of K is whole blocks", "BK", t.BK, "elements", 256);
            if (r.count) return;
            r.multiple("teams must share the outputs evenly", "max(BM,BN)", out, "WG/TEAM", t.WG / t.TEAM);
            r.check(out * t.TEAM / t.WG * vectors <= 64, "sums must fit the registers", "sums of an invocation",
                    out * t.TEAM / t.WG * vectors, "limit", 64);
        },
    .shared_bytes = [](const Tile& t, const ElementBytes& e) -> uint64_t {
        const auto [out, vectors] = gemv_rules::shape(t);
        return uint64_t{e.accumulator} * vectors * (4 * PADDED_EIGHTS(t.TEAM) + out * t.TEAM);
    },
    .refuses = [](const Problem& p) -> const char* {
        if (p.m > 16 && p.n > 16) return "is for up to 16 rows or columns";
        if (p.a.layout != rowMajor || p.b.layout != columnMajor) return "is for a row-major A and a column-major B";
        return p.k % 32 != 0 ? "is for a K that is a multiple of 32" : nullptr;
    },
    .sample =
        [](const Tile& t, const Problem& like) {
            Problem p = gemv_sample(t, like);
            p.a.layout = rowMajor;
            p.b.layout = columnMajor;
            p.k = round_up(p.k, 32);
            return p;
        },
    .takes_pairs = true,
    // The segments of two steps, 32 elements of the long side each, of which the earlier one is used up; what is in
    // flight of the short side; the sums, and what is decoded for each.
    .live_registers = [](const Tile& t, const ElementBytes& e, const Registers&) -> double {
        const auto [out, vectors] = gemv_rules::shape(t);
        const uint32_t rows = out * t.TEAM / t.WG;
        const uint32_t of_long = t.BM > t.BN ? e.a : e.b, of_short = t.BM > t.BN ? e.b : e.a;
        const double copied = double(vectors) * t.TEAM * 32 / t.WG * of_short / 4;
        return rows * (14.0 * std::max(of_long, 2U) + 4 * vectors) + 2 * copied + 12;
    },
    .gpu_cost = {.mac = 0.045, .bytes_per_cycle = 16.5, .decode = 0.01},
    .cpu_weight = 73,
};

}  // namespace vkgemm::plan::family::gemv
