// SPDX-License-Identifier: MIT
// Products on the matrix units of operands that are stored in the order of the registers.
#pragma once
#include "shaders/common/fragments.h"
#include "shaders/common/live_registers.h"

namespace vkgemm::plan::family {

inline constexpr Family coopmat_packed = {
    .name = "coopmat_packed",
    .reads = packed_reads | constant::STAGES,
    .rules =
        [](const Tile& t, TileRules& r) {
            r.check(t.STAGES == 0 || t.STAGES == 3, "STAGES is 0 or 3", "STAGES", t.STAGES, "at most", 3);
            r.multiple("a subgroup takes two slices of every step", "BK", t.BK, "2*MK", 2 * t.MK);
            packed_rules::product(t, r, r.count ? 1 : t.BK / (2 * t.MK));
        },
    .copy_rules = packed_rules::matrices,
    .shared_bytes = packed_rules::bytes_for_d<true>,
    .refuses = too_short,
    .uses_matrix_units = true,
    .packs_fragments = true,
    .registers = [](const Tile& t, const ElementBytes& e) -> double {
        return double(t.WM) * t.WN / t.SG * e.accumulator / 4 + 2.0 * (t.WM + t.WN) * t.MK * e.a / 4 / t.SG + 46;
    },
    // With STAGES 3: the fragments of A of one slice, one of B, and one product. Otherwise fragments that are held
    // twice are loaded when they are used, and others are made of two slices in flight.
    .live_registers = [](const Tile& t, const ElementBytes& e, const Registers& r) -> double {
        if (t.STAGES == 3) {
            const double fragments = double(t.WM + t.MN) * t.MK * e.a / 4 / t.SG * r.fragment_copies;
            return sum_registers(t, e, r) + fragments + double(t.MM) * t.MN / t.SG + 14;
        }
        const uint32_t slices = r.fragment_copies > 1 ? 1 : r.keeps_loaded ? 3 : 2;
        return sum_registers(t, e, r) + slices * fragment_registers(t, e.a, r) + 32;
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

}  // namespace vkgemm::plan::family
