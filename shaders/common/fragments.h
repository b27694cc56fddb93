// SPDX-License-Identifier: MIT
// Rules of all kernels whose operands are stored in the order of the matrix units' registers (fragments.glsl).
#pragma once
#include <algorithm>

#include "plan/kernels/family.h"
#include "shaders/common/row_block.h"
#include "shaders/common/short_operands.h"

namespace vkgemm::plan::family {

namespace packed_rules {

// Elements in 16 bytes; of f32, parts of two bytes each.
constexpr uint32_t per_chunk(const ElementBytes& e) { return e.a == 4 ? 8 : 16 / e.a; }

// An invocation holds whole chunks of every matrix; a row block is whole matrices.
constexpr void matrices(const Tile& t, const ElementBytes& e, TileRules& r) {
    const uint32_t chunk = per_chunk(e);
    const char* const whole = "each invocation holds whole 16-byte chunks of a matrix";
    r.multiple(whole, "MM*MK", t.MM * t.MK, "SG*elements", t.SG * chunk);
    r.multiple(whole, "MK*MN", t.MK * t.MN, "SG*elements", t.SG * chunk);
    r.multiple("a row block is whole matrices", "row block", PACKED_ROW_BLOCK, "MM", t.MM);
    r.multiple("a row block is whole matrices", "row block", PACKED_ROW_BLOCK, "MN", t.MN);
    r.multiple("a matrix is whole 16-byte chunks", "MK", t.MK, "elements", chunk);
}

// The same for products that are written for one chunk of each, and for row blocks of PACKED_ROW_BLOCK.
constexpr void small_matrices(const Tile& t, const ElementBytes& e, TileRules& r) {
    matrices(t, e, r);
    const uint32_t held = t.SG * per_chunk(e);
    const char* const one = "each invocation holds 16 bytes of a matrix";
    r.check(t.MM * t.MK <= held, one, "MM*MK", t.MM * t.MK, "SG*elements", held);
    r.check(t.MK * t.MN <= held, one, "MK*MN", t.MK * t.MN, "SG*elements", held);
    r.multiple("a row block is whole parts of subgroups", "row block", PACKED_ROW_BLOCK, "WM", t.WM);
    r.multiple("a row block is whole parts of subgroups", "row block", PACKED_ROW_BLOCK, "WN", t.WN);
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
    const char* const inside = "a subgroup's part must lie in one row block";
    r.check(t.WM <= PACKED_ROW_BLOCK, inside, "WM", t.WM, "row block", PACKED_ROW_BLOCK);
    r.check(t.WN <= PACKED_ROW_BLOCK, inside, "WN", t.WN, "row block", PACKED_ROW_BLOCK);
    r.multiple("results leave in vectors", "WN", t.WN, "vector", 4);
    if (r.count) return;
    const uint64_t filled = subgroups(t, sets) * t.SG;
    r.check(filled == t.WG, "the subgroups must fill the work group exactly", "subgroups*SG", filled, "WG", t.WG);
}

template <bool shares>
constexpr uint64_t bytes_for_d(const Tile& t, const ElementBytes&) {
    return 16 * COOPMAT_D(subgroups(t, shares ? t.BK / (2 * t.MK) : 1), t.WN, t.MM);
}

}  // namespace packed_rules

constexpr Constants packed_reads = constant::of_every_product | constant::WG | constant::BM | constant::BN |
                                   constant::BK | constant::WM | constant::WN | constant::MM | constant::MN |
                                   constant::MK;

}  // namespace vkgemm::plan::family
