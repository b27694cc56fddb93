// SPDX-License-Identifier: MIT
// What puts A and B into the order of the matrix units' registers, whole or split into parts.
#pragma once
#include "shaders/common/fragments.h"
#include "shaders/common/shared_memory.h"

namespace vkgemm::plan::family {

template <uint32_t count, bool scaled = false>
constexpr uint64_t pack_fragments_bytes(const Tile& t, const ElementBytes& e) {
    const uint32_t chunk = packed_rules::per_chunk(e);
    return 16 * count * std::max<uint64_t>(PADDED_CHUNKS(t.BM, t.BN, chunk), PADDED_CHUNKS(t.BN, t.BM, chunk)) +
           (scaled ? 4 * t.BM : 0);
}
constexpr Family packs_into(std::string_view variant, OperandSplit operand_split,
                            uint64_t (*shared)(const Tile&, const ElementBytes&)) {
    return {
        .name = "pack_fragments",
        .variant = variant,
        .reads = constant::WG | constant::BM | constant::BN | constant::MM | constant::MN | constant::MK | constant::SG,
        .rules =
            [](const Tile& t, TileRules& r) {
                r.check(t.SG >= 1, "the size of a subgroup must be known", "SG", t.SG, "least", 1);
                r.multiple("a tile is whole matrices", "BM", t.BM, "MM", t.MM);
                r.multiple("a tile is whole matrices", "BM", t.BM, "MN", t.MN);
                r.multiple("a tile is whole matrices", "BN", t.BN, "MK", t.MK);
                r.check(t.BM <= PACKED_ROW_BLOCK, "a tile lies in one row block", "BM", t.BM, "row block",
                        PACKED_ROW_BLOCK);
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
namespace pack_fragments {

inline constexpr Family plain = packs_into("", {}, pack_fragments_bytes<1>);
inline constexpr Family mixed = packs_into("mixed", {}, pack_fragments_bytes<1>);
inline constexpr Family bf16x3 = packs_into("bf16x3", {3, bf16}, pack_fragments_bytes<3>);
inline constexpr Family f16x2 = packs_into("f16x2", {2, f16, true}, pack_fragments_bytes<2, true>);

}  // namespace pack_fragments

}  // namespace vkgemm::plan::family
