// SPDX-License-Identifier: MIT
// The family of the matrix units: the rules that the shader coopmat relies on.
#pragma once
#include <algorithm>

#include "plan/kernels/family.h"
#include "shaders/common/live_registers.h"
#include "shaders/common/short_operands.h"
#include "shaders/coopmat/shared_memory.h"

namespace vkgemm::plan::family {

namespace coopmat_rules {

constexpr uint64_t subgroups(const Tile& t) { return uint64_t{t.BM / t.WM} * (t.BN / t.WN) * (t.BK / (2 * t.MK)); }

// One operand is copied in chunks of 16 bytes (per_chunk elements), whichever its layout. Rows of k of a B that is not
// k-contiguous may be shared unevenly: some invocations then load what another one loads too.
constexpr void copied(const Tile& t, TileRules& r, bool is_b, uint32_t per_chunk) {
    const char* const side_name = is_b ? "BN" : "BM";
    const uint32_t side = is_b ? t.BN : t.BM;
    r.multiple("a tile is copied in 16-byte chunks", side_name, side, "elements", per_chunk);
    r.multiple("a slice is copied in 16-byte chunks", "MK", t.MK, "elements", per_chunk);
    if (r.count) return;
    const uint32_t along = t.BK / per_chunk,
                   across = side / per_chunk;  // chunks in a row of the tile, k-contiguous or not
    r.multiple("rows of a tile are copied by whole numbers of invocations", "WG", t.WG, "BK in chunks", along);
    if (is_b) {
        r.check(across <= t.WG, "a row of a tile is copied at once", "BN in chunks", across, "WG", t.WG);
    } else {
        r.multiple("rows of a tile are copied by whole numbers of invocations", "WG", t.WG, side_name, across);
    }
    if (r.count) return;
    r.multiple("the invocations must share a tile evenly", side_name, side, "WG/(BK in chunks)", t.WG / along);
    const uint32_t down = t.WG / across;  // rows of k at a time: parts of a slice, or whole ones
    r.check(is_b || t.MK % down == 0 || (down % t.MK == 0 && t.BK % down == 0),
            "the invocations must share slices evenly", "MK", t.MK, "WG/(side in chunks)", down);
}

constexpr uint64_t shared_bytes(const Tile& t, const ElementBytes& e, KContiguous k_contiguous) {
    if (t.STAGES == 0)
        return 16 * std::max<uint64_t>(COOPMAT_STRAIGHT(subgroups(t), t.MM, t.MK, 16 / e.a),
                                       COOPMAT_D(subgroups(t), t.WN, t.MM));
    const uint32_t pa = 16 / e.a, pb = 16 / e.b, slots = t.BK / (2 * t.MK) * (t.STAGES == 2 ? 3 : 2);
    const uint64_t a = COOPMAT_CHUNKS(k_contiguous.a, t.BM, t.MK, slots, pa);
    const uint64_t b = COOPMAT_CHUNKS(k_contiguous.b, t.BN, t.MK, slots, pb);
    return 16 * std::max<uint64_t>(a + b, COOPMAT_D(subgroups(t), t.WN, t.MM));
}

// Straight from memory, in 16-byte chunks along k: every load of a subgroup is whole rows of two slices of a matrix.
constexpr void straight(const Tile& t, const ElementBytes& e, TileRules& r) {
    r.check(e.a == 2 && e.d == 2 && e.accumulator == 4, "only f16 to f16 with sums of f32 is loaded without a tile",
            "STAGES", t.STAGES, "at least", 1);
    const uint32_t run = 2 * t.MK * e.a / 16;  // chunks in a row
    r.multiple("a subgroup loads whole rows of two slices", "SG", t.SG, "2*MK in chunks", run);
    r.check(t.MM == t.MN, "matrices of A and B are loaded alike", "MM", t.MM, "MN", t.MN);
    if (r.count) return;
    r.multiple("a matrix is loaded by whole subgroups", "MM", t.MM, "SG/(2*MK in chunks)", t.SG / run);
}

// Sums, the fragments of two slices, the tile in flight, and what bytes take to be put in order. With STAGES 3 either
// the fragments of one slice or the tile; of A one matrix and one product, if products are APART in the shader.
constexpr double live_registers(const Tile& t, const ElementBytes& e, const Registers& r) {
    const double sums = sum_registers(t, e, r), fragments = fragment_registers(t, std::min(e.a, 2U), r);
    const double copied = double(t.BM * e.a + t.BN * e.b) * t.BK / 4 / t.WG;
    if (t.STAGES == 3 && t.SG < 32) {
        const double one_of_a = double(t.MM + t.WN) * t.MK * e.a / 4 / t.SG;
        return sums + std::max(one_of_a + double(t.MM) * t.MN / t.SG, copied) + 32;
    }
    if (t.STAGES == 3) return sums + std::max(fragments, copied) + 40;
    const double matrices = sums + 2 * fragments;
    if (t.STAGES == 0) return matrices + 30;
    return matrices + copied + 30 + (e.a == 1 ? 16 : 0);
}

}  // namespace coopmat_rules

namespace coopmat {

inline constexpr Family plain = {
    .name = "coopmat",
    .reads = constant::of_every_product | constant::WG | constant::BM | constant::BN | constant::BK | constant::WM |
             constant::WN | constant::MM | constant::MN | constant::MK | constant::STAGES,
    .rules =
        [](const Tile& t, TileRules& r) {
            r.check(t.STAGES <= 3, "STAGES is 0 to 3", "STAGES", t.STAGES, "at most", 3);
            r.check(t.SG >= 1, "the size of a subgroup must be known", "SG", t.SG, "least", 1);
            r.multiple("a block must be whole parts of subgroups", "BM", t.BM, "WM", t.WM);
            r.multiple("a block must be whole parts of subgroups", "BN", t.BN, "WN", t.WN);
            r.multiple("a subgroup's part must be whole matrices", "WM", t.WM, "MM", t.MM);
            r.multiple("a subgroup's part must be whole matrices", "WN", t.WN, "MN", t.MN);
            r.multiple("results leave in vectors", "WN", t.WN, "vector", 4);
            r.multiple("a subgroup takes two slices of every step", "BK", t.BK, "2*MK", 2 * t.MK);
            if (r.count) return;
            r.check(coopmat_rules::subgroups(t) * t.SG == t.WG, "the subgroups must fill the work group exactly",
                    "(BM/WM)*(BN/WN)*BK/(2*MK)*SG", coopmat_rules::subgroups(t) * t.SG, "WG", t.WG);
        },
    .copy_rules =
        [](const Tile& t, const ElementBytes& e, TileRules& r) {
            if (t.STAGES == 0) return coopmat_rules::straight(t, e, r);
            coopmat_rules::copied(t, r, false, 16 / e.a);
            coopmat_rules::copied(t, r, true, 16 / e.b);
        },
    .shared_bytes = [](const Tile& t, const ElementBytes& e) -> uint64_t {
        using coopmat_rules::shared_bytes;
        return std::max({shared_bytes(t, e, {false, false}), shared_bytes(t, e, {false, true}),
                         shared_bytes(t, e, {true, false}), shared_bytes(t, e, {true, true})});
    },
    .shared_bytes_of_layouts = coopmat_rules::shared_bytes,
    .refuses = too_short,
    .sample =
        [](const Tile& t, const Problem& like) {
            Problem p = like;
            if (t.STAGES > 0) return p;
            p.a.layout = rowMajor;  // it reads 16 bytes along k straight from memory
            p.b.layout = columnMajor;
            p.k = round_up(p.k, 8);
            return p;
        },
    .takes_straight = true,
    .wants_chunks = true,
    .uses_matrix_units = true,
    .takes_converted = true,
    .registers = [](const Tile& t, const ElementBytes& e) -> double {
        const double sums = double(t.WM) * t.WN / t.SG * e.accumulator / 4;
        if (t.STAGES == 0) return sums + double(t.WM * e.a + t.WN * e.b) * t.MK / t.SG + 50;
        const double copied = double(t.BM * e.a + t.BN * e.b) * t.BK / 4 / t.WG;
        return sums + 60 + copied;
    },
    .live_registers = coopmat_rules::live_registers,
    // Two chunks of such an operand are loaded for each that is made of them, each from a place of its own.
    .narrow_registers = [](const Tile& t, const ElementBytes& e, const Registers&, bool is_b) -> double {
        if (t.STAGES == 0 || t.STAGES == 3) return 0;
        return 1.5 * (is_b ? t.BN * e.b : t.BM * e.a) * t.BK / 4 / t.WG;
    },
    .gpu_cost = {.mac = 0.000682,
                 .load = 0.00267,
                 .own_load = 1.64,
                 .per_k = 0.195,
                 .step = 1110,
                 .step_overlapped = 552,
                 .step_in_turn = 1700,
                 .step_straight = 300,
                 .load_straight = 0.014,
                 .together = 2.45,
                 .issue = 42.9,
                 .element = 0.266,
                 .ragged = 0.0319,
                 .shared_part = 0.244,
                 .group = 775,
                 .start = 117,
                 .launch = 4000,
                 .bytes_per_cycle = 21,
                 .overlaps = true,
                 .misaligned = 2.2,
                 .misaligned_along = 2.64,
                 .not_whole = 0.115,
                 .transposed_bytes = 1.65,
                 .a_along = 1.01,
                 .b_along = 0.885,
                 .converted = 1.4},
    .cpu_weight = 9,
};

}  // namespace coopmat
}  // namespace vkgemm::plan::family
