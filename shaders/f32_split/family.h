// SPDX-License-Identifier: MIT
// f32 from parts on matrix units that take f16 or bf16.
#pragma once
#include "shaders/common/fragments.h"

namespace vkgemm::plan::family {

// Sums leave the matrix units every BK of depth.
constexpr Family from_split(std::string_view name, OperandSplit operand_split, VkgemmAccuracy accuracy,
                            double (*registers)(const Tile&, const ElementBytes&), const GpuCost& gpu_cost) {
    return {
        .name = name,
        .reads = packed_reads,
        .rules =
            [](const Tile& t, TileRules& r) {
                r.multiple("a step is pairs of slices", "BK", t.BK, "2*MK", 2 * t.MK);
                packed_rules::product(t, r);
            },
        .copy_rules = packed_rules::small_matrices,
        .shared_bytes = packed_rules::bytes_for_d<false>,
        .refuses = too_short,
        .uses_matrix_units = true,
        .packs_fragments = true,
        .operand_split = operand_split,
        .accuracy = accuracy,
        .registers = registers,
        .gpu_cost = gpu_cost,
        .cpu_weight = 12,
    };
}
// Registers of an invocation with `sums` kinds of sums, and `count` parts of the fragments of two slices.
template <uint32_t sums, uint32_t count>
constexpr double registers_of_split(const Tile& t, const ElementBytes&) {
    return double(sums) * t.WM * t.WN / t.SG + double(count) * (t.WM + t.WN) * t.MK / t.SG + 28;
}
namespace bf16x3 {

inline constexpr Family plain = from_split("bf16x3", {3, bf16}, VKGEMM_ACCURACY_F32_SPLIT, registers_of_split<4, 3>,
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
}  // namespace bf16x3
namespace f16x2 {

inline constexpr Family plain =
    from_split("f16x2", {2, f16, true}, VKGEMM_ACCURACY_F32_SPLIT_ROWS, registers_of_split<2, 2>,
               {.mac = 0.00143, .step = 1120, .element = 0.24, .group = 2100, .launch = 4000, .bytes_per_cycle = 37});

}  // namespace f16x2
}  // namespace vkgemm::plan::family
