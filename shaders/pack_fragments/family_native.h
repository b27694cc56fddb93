// SPDX-License-Identifier: MIT
// pack_fragments in machine code (native/pack_parts.cuh): writes each part of A or B as a whole matrix.
#pragma once
#include "native/native_args.h"
#include "native/parts.h"
#include "plan/kernels/family.h"

namespace vkgemm::plan::family {

static_assert(native::parts_row_block == PACKED_ROW_BLOCK, "both passes and the plan fill up rows alike");

constexpr Family parts_packer(std::string_view variant, OperandSplit operand_split) {
    return {
        .name = "pack_fragments",
        .variant = variant,
        .reads = constant::WG | constant::BM | constant::BN,
        .rules =
            [](const Tile& t, TileRules& r) {
                r.check(t.WG == 256, "the code is for 256 invocations", "WG", t.WG, "must be", 256);
                r.multiple("the invocations take four elements each at a time", "BM*BN", t.BM * t.BN, "4*WG", 1024);
            },
        .shared_bytes = [](const Tile& t, const ElementBytes&) -> uint64_t {
            return native::pack_parts_shared_bytes(t.BM, t.BN);
        },
        .refuses = packs_alone,
        .wants_addresses = true,
        .packs_fragments = true,
        .operand_split = operand_split,
        .gpu_cost = {},
        .cpu_weight = 1,
    };
}
namespace pack_fragments {

inline constexpr Family native_f16x2 = parts_packer("native_f16x2", {2, f16, true});
inline constexpr Family native_bf16x3 = parts_packer("native_bf16x3", {3, bf16});

}  // namespace pack_fragments

}  // namespace vkgemm::plan::family
