// SPDX-License-Identifier: MIT
// bf16x3 and f16x2 on Hopper's warp-group matrix units, in machine code (native/wgmma_split.cuh).
#pragma once
#include "native/family.h"

namespace vkgemm::plan::family {

// A product of f32 is `products` products of parts. gpu_cost.mac is the cost of two.
constexpr Family wgmma_split(std::string_view name, OperandSplit operand_split, VkgemmAccuracy accuracy,
                             double products) {
    Family f = wgmma::unfitted(wgmma::plain);
    f.name = name;
    f.variant = "native";
    f.rules = [](const Tile& t, TileRules& r) {
        r.check(t.BM == 128, "two warp groups have 64 rows each", "BM", t.BM, "must be", 128);
        r.multiple("a block is whole boxes of 64 columns", "BN", t.BN, "columns", 64);
        r.check(t.BN <= 128, "there are registers for three kinds of sums", "BN", t.BN, "limit", 128);
        r.check(t.WG == 384, "one warp group loads, and two multiply", "WG", t.WG, "must be", 384);
        r.check(t.BK == 64, "a row of a stage is one row of the swizzle", "BK", t.BK, "must be", 64);
        r.multiple("a step of two or three parts is whole stages", "STAGES", t.STAGES, "parts", 6);
    };
    f.copy_rules = no_rules;
    f.shared_bytes = [](const Tile& t, const ElementBytes&) -> uint64_t {
        return native::wgmma_shared_bytes(t.BM, t.BN, t.BK, t.STAGES, 2, 4);
    };
    f.refuses = [](const Problem& p) -> const char* {
        if (const char* why = wgmma_rules::unfinished(p)) return why;
        return p.batchInvariant ? "was not shown to give the same bits in every batch; not for batchInvariant"
                                : nullptr;
    };
    f.wants_pitches = false;
    f.takes_converted = false;
    f.packs_fragments = true;
    f.operand_split = operand_split;
    f.accuracy = accuracy;
    f.gpu_cost.mac *= products / 2;
    return f;
}
namespace f16x2 {
inline constexpr Family native = wgmma_split("f16x2", {2, f16, true}, VKGEMM_ACCURACY_F32_SPLIT_ROWS, 3);
}
namespace bf16x3 {
inline constexpr Family native = wgmma_split("bf16x3", {3, bf16}, VKGEMM_ACCURACY_F32_SPLIT, 6);
}

}  // namespace vkgemm::plan::family
