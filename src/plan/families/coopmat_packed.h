// SPDX-License-Identifier: MIT
// The families of the matrix units whose operands are stored in the order of the registers: the rules that the shaders
// pack_fragments, coopmat_packed, bf16x3 and f16x2 rely on.
#pragma once
#include <algorithm>

#include "plan/families/family.h"

namespace vkgemm::plan::family {

namespace packed_rules {

// Elements in 16 bytes; of f32, parts of two bytes each.
constexpr uint32_t per_chunk(const ElementBytes& e) { return e.a == 4 ? 8 : 16 / e.a; }

// An invocation holds 16 bytes of every matrix; a row block is whole matrices.
constexpr void matrices(const Tile& t, const ElementBytes& e, TileRules& r) {
    const uint32_t chunk = per_chunk(e);
    r.check(t.MM * t.MK == t.SG * chunk, "each invocation holds 16 bytes of a matrix", "MM*MK", t.MM * t.MK,
            "SG*elements", t.SG * chunk);
    r.check(t.MK * t.MN == t.SG * chunk, "each invocation holds 16 bytes of a matrix", "MK*MN", t.MK * t.MN,
            "SG*elements", t.SG * chunk);
    r.multiple("a row block is whole matrices", "row block", PACKED_ROW_BLOCK, "MM", t.MM);
    r.multiple("a row block is whole matrices", "row block", PACKED_ROW_BLOCK, "MN", t.MN);
    r.multiple("a matrix is whole 16-byte chunks", "MK", t.MK, "elements", chunk);
}

// Subgroups of a work group, where `sets` of them share a part of D.
constexpr uint64_t subgroups(const Tile& t, uint32_t sets) { return uint64_t{t.BM / t.WM} * (t.BN / t.WN) * sets; }

// The rules of every product of packed operands.
constexpr void product(const Tile& t, TileRules& r, uint32_t sets = 1) {
    r.check(t.SG >= 1, "the size of a subgroup must be known", "SG", t.SG, "least", 1);
    r.multiple("a block must be whole parts of subgroups", "BM", t.BM, "WM", t.WM);
    r.multiple("a block must be whole parts of subgroups", "BN", t.BN, "WN", t.WN);
    r.multiple("a subgroup's part must be whole matrices", "WM", t.WM, "MM", t.MM);
    r.multiple("a subgroup's part must be whole matrices", "WN", t.WN, "MN", t.MN);
    r.multiple("a subgroup's part must lie in one row block", "row block", PACKED_ROW_BLOCK, "WM", t.WM);
    r.multiple("a subgroup's part must lie in one row block", "row block", PACKED_ROW_BLOCK, "WN", t.WN);
    r.multiple("results leave in vectors", "WN", t.WN, "vector", 4);
    if (r.count) return;
    const uint64_t filled = subgroups(t, sets) * t.SG;
    r.check(filled == t.WG, "the subgroups must fill the work group exactly", "subgroups*SG", filled, "WG", t.WG);
}

inline const char* too_short(const Problem& p) {
    for (const Operand& x : operands(p))
        if ((x.matrix == &p.a || x.matrix == &p.b) &&
            span_elements(*x.matrix, x.rows, x.cols, p.batch).value_or(0) * info(x.matrix->type).bytes < 16)
            return "is not for operands shorter than 16 bytes";
    return nullptr;
}

template <bool shares>
constexpr uint64_t bytes_for_d(const Tile& t, const ElementBytes&) {
    return 16 * COOPMAT_D(subgroups(t, shares ? t.BK / (2 * t.MK) : 1), t.WN, t.MM);
}

}  // namespace packed_rules

template <uint32_t count, bool scaled = false>
constexpr uint64_t pack_fragments_bytes(const Tile& t, const ElementBytes& e) {
    const uint32_t chunk = packed_rules::per_chunk(e);
    return 16 * count *
               std::max<uint64_t>(PACK_FRAGMENTS_CHUNKS(t.BM, t.BN, chunk), PACK_FRAGMENTS_CHUNKS(t.BN, t.BM, chunk)) +
           (scaled ? 4 * t.BM : 0);
}
constexpr Family packs_into(std::string_view name, OperandSplit operand_split,
                            uint64_t (*shared)(const Tile&, const ElementBytes&)) {
    return {
        .name = name,
        .reads = constant::WG | constant::BM | constant::BN | constant::MM | constant::MN | constant::MK | constant::SG,
        .rules =
            [](const Tile& t, TileRules& r) {
                r.check(t.SG >= 1, "the size of a subgroup must be known", "SG", t.SG, "least", 1);
                r.multiple("a tile is whole matrices", "BM", t.BM, "MM", t.MM);
                r.multiple("a tile is whole matrices", "BM", t.BM, "MN", t.MN);
                r.multiple("a tile is whole matrices", "BN", t.BN, "MK", t.MK);
                r.multiple("a row block is whole tiles", "row block", PACKED_ROW_BLOCK, "BM", t.BM);
            },
        .copy_rules =
            [](const Tile& t, const ElementBytes& e, TileRules& r) {
                packed_rules::matrices(t, e, r);
                r.multiple("a tile is whole 16-byte chunks", "BM", t.BM, "elements", packed_rules::per_chunk(e));
                r.multiple("a tile is whole 16-byte chunks", "BN", t.BN, "elements", packed_rules::per_chunk(e));
                r.multiple("the invocations must share a tile evenly", "BM*BN", t.BM * t.BN, "WG*elements",
                           t.WG * packed_rules::per_chunk(e));
            },
        .shared_bytes = shared,
        .refuses = packs_alone,
        .uses_matrix_units = true,
        .packs_fragments = true,
        .operand_split = operand_split,
        .gpu_cost = {},
        .cpu_weight = 1,
    };
}
inline constexpr Family pack_fragments = packs_into("pack_fragments", {}, pack_fragments_bytes<1>);
inline constexpr Family pack_fragments_mixed = packs_into("pack_fragments_mixed", {}, pack_fragments_bytes<1>);
inline constexpr Family pack_fragments_bf16x3 = packs_into("pack_fragments_bf16x3", {3, bf16}, pack_fragments_bytes<3>);
inline constexpr Family pack_fragments_f16x2 =
    packs_into("pack_fragments_f16x2", {2, f16, true}, pack_fragments_bytes<2, true>);

constexpr Constants packed_reads = constant::of_every_product | constant::WG | constant::BM | constant::BN |
                                   constant::BK | constant::WM | constant::WN | constant::MM | constant::MN |
                                   constant::MK;

inline constexpr Family coopmat_packed = {
    .name = "coopmat_packed",
    .reads = packed_reads,
    .rules =
        [](const Tile& t, TileRules& r) {
            r.multiple("a subgroup takes two slices of every step", "BK", t.BK, "2*MK", 2 * t.MK);
            packed_rules::product(t, r, r.count ? 1 : t.BK / (2 * t.MK));
        },
    .copy_rules = packed_rules::matrices,
    .shared_bytes = packed_rules::bytes_for_d<true>,
    .refuses = packed_rules::too_short,
    .uses_matrix_units = true,
    .packs_fragments = true,
    .registers = [](const Tile& t, const ElementBytes& e) -> double {
        return double(t.WM) * t.WN / t.SG * e.accumulator / 4 + 2.0 * (t.WM + t.WN) * t.MK * e.a / 4 / t.SG + 46;
    },
    .gpu_cost = {.mac = 0.000613,
                 .load = 0.00245,
                 .own_load = 4.4,
                 .per_k = 0.559,
                 .step = 156,
                 .together = 3.91,
                 .prologue = 0.0402,
                 .issue = 51.3,
                 .element = 0.177,
                 .ragged = 0.0163,
                 .shared_part = 0.0255,
                 .group = 2190,
                 .start = 90.8,
                 .launch = 4000,
                 .bytes_per_cycle = 21,
                 .overlaps = true,
                 .not_whole = 0.0351},
    .cpu_weight = 3,
};

// `coopmat_packed` with f32 split into parts; sums leave the matrix units every BK of depth.
constexpr Family from_split(std::string_view name, OperandSplit operand_split, VkgemmAccuracy accuracy,
                            double (*registers)(const Tile&, const ElementBytes&), const GpuCost& gpu_cost) {
    Family f = coopmat_packed;
    f.name = name;
    f.rules = [](const Tile& t, TileRules& r) {
        r.multiple("a step is pairs of slices", "BK", t.BK, "2*MK", 2 * t.MK);
        packed_rules::product(t, r);
    };
    f.shared_bytes = packed_rules::bytes_for_d<false>;
    f.operand_split = operand_split, f.accuracy = accuracy, f.registers = registers;
    f.gpu_cost = gpu_cost;
    f.cpu_weight = 12;
    return f;
}
// For `sums` kinds of sums, and `count` parts of the fragments of two slices.
template <uint32_t sums, uint32_t count>
constexpr double registers_of_split(const Tile& t, const ElementBytes&) {
    return double(sums) * t.WM * t.WN / t.SG + double(count) * (t.WM + t.WN) * t.MK / t.SG + 28;
}
inline constexpr Family bf16x3 = from_split("bf16x3", {3, bf16}, VKGEMM_ACCURACY_F32_SPLIT, registers_of_split<4, 3>,
                                            {.mac = 0.00084,
                                             .load = 0.00334,
                                             .own_load = 5.47,
                                             .per_k = 0.937,
                                             .step = 715,
                                             .together = 4.29,
                                             .issue = 47.6,
                                             .element = 0.129,
                                             .ragged = 0.0182,
                                             .group = 1310,
                                             .start = 97.3,
                                             .launch = 4000,
                                             .bytes_per_cycle = 21,
                                             .overlaps = true,
                                             .not_whole = 0.0418});
inline constexpr Family f16x2 =
    from_split("f16x2", {2, f16, true}, VKGEMM_ACCURACY_F32_SPLIT_ROWS, registers_of_split<2, 2>,
               {.mac = 0.00143, .step = 1120, .element = 0.24, .group = 2100, .launch = 4000, .bytes_per_cycle = 37});

}  // namespace vkgemm::plan::family
