// SPDX-License-Identifier: MIT
// The family of few rows or few columns: the rules that the shader gemv relies on.
#pragma once
#include <algorithm>

#include "plan/kernels/family.h"

namespace vkgemm::plan::family {

namespace gemv_rules {

struct Shape {
    uint32_t out, vectors;  // the long and the short side of the tile
};
constexpr Shape shape(const Tile& t) { return t.BM > t.BN ? Shape{t.BM, t.BN} : Shape{t.BN, t.BM}; }

}  // namespace gemv_rules

/// No more rows, or columns, than a work group computes.
inline Problem gemv_sample(const Tile& t, const Problem& like) {
    Problem p = like;
    (t.BM <= t.BN ? p.m : p.n) = std::min(t.BM, t.BN);
    return p;
}

namespace gemv {

inline constexpr Family plain = {
    .name = "gemv",
    .reads = constant::of_every_product | constant::WG | constant::BM | constant::BN | constant::BK | constant::TEAM |
             constant::DEPTH,
    .rules =
        [](const Tile& t, TileRules& r) {
            const auto [out, vectors] = gemv_rules::shape(t);
            r.check(vectors <= 16, "the short side is at most 16", "min(BM,BN)", vectors, "limit", 16);
            r.check(t.DEPTH >= 1 && t.DEPTH <= 32, "1 to 32 loads of 16 bytes are in flight", "DEPTH", t.DEPTH, "limit",
                    32);
            r.multiple("teams must fill the work group exactly", "WG", t.WG, "TEAM", t.TEAM);
            if (r.count) return;
            r.multiple("teams must share the outputs evenly", "max(BM,BN)", out, "WG/TEAM", t.WG / t.TEAM);
            r.multiple("a slice of K is whole 16-byte chunks", "BK", t.BK, "elements", 16);
        },
    .copy_rules =
        [](const Tile& t, const ElementBytes& e, TileRules& r) {
            const uint32_t out = gemv_rules::shape(t).out, chunk = 16 / e.a;
            r.check(e.a == e.b, "A and B have the same type", "bytes of A", e.a, "bytes of B", e.b);
            r.multiple("the long side is whole 16-byte chunks", "max(BM,BN)", out, "elements", chunk);
            if (!r.count) r.multiple("outputs must be shared evenly", "WG", t.WG, "max(BM,BN) in chunks", out / chunk);
        },
    .shared_bytes = [](const Tile& t, const ElementBytes& e) -> uint64_t {
        const auto [out, vectors] = gemv_rules::shape(t);
        const uint32_t along = t.TEAM ? out * t.TEAM : 0, down = t.WG * 16 / e.a;  // WG * R for either layout
        return uint64_t{e.accumulator} * vectors * (along > down ? along : down);
    },
    .refuses = [](const Problem& p) -> const char* {
        return p.m > 16 && p.n > 16 ? "is for up to 16 rows or columns" : nullptr;
    },
    .sample = gemv_sample,
    .wants_wide = true,
    .takes_pairs = true,
    // The chunks in flight, and the sums.
    .live_registers = [](const Tile& t, const ElementBytes& e, const Registers&) -> double {
        const auto [out, vectors] = gemv_rules::shape(t);
        return 4 * t.DEPTH + double(vectors) * out * t.TEAM / t.WG * e.accumulator / 4 + 14;
    },
    .gpu_cost = {.mac = 0.0142,
                 .load = 0.00479,
                 .own_load = 8.11,
                 .per_k = 0.67,
                 .step = 21.4,
                 .issue = 20.5,
                 .element = 18.1,
                 .ragged = 0.02,
                 .group = 123,
                 .start = 163,
                 .launch = 4000,
                 .bytes_per_cycle = 21,
                 .reread = 0.43,
                 .overlaps = true,
                 .not_whole = 0.0382},
    .cpu_weight = 8,
};

}  // namespace gemv
}  // namespace vkgemm::plan::family
