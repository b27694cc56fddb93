// SPDX-License-Identifier: MIT
// gemv_blocks in whole numbers, with A rounded to MXINT8: the rules that the shader gemv_blocks_mxint8 relies on.
#pragma once
#include "shaders/common/shared_memory.h"
#include "shaders/gemv_blocks/family.h"
#include "shaders/gemv_blocks/shared_memory.h"

namespace vkgemm::plan::family {

constexpr bool has_dots(Type format) {
    return std::ranges::any_of(chunk64_formats, [=](const Chunk64& x) { return x.format == format && x.has_dots; });
}

constexpr bool is_rounded(Type a) { return a == f32 || a == f16 || a == bf16; }

constexpr uint64_t gemv_mxint8_bytes(const Tile& t, const ElementBytes&, Type format) {
    const uint64_t a = uint64_t{t.BM} * t.TEAM * GEMV_MXINT8_LANE(t.DEPTH),
                   parts = (uint64_t{t.BM} * t.BN * t.TEAM + 3) / 4;
    const bool twice = t.STAGES > 1 && t.DEPTH > 1;  // A, before it is rounded
    const uint64_t vectors = twice ? PADDED_EIGHTS(uint64_t{t.BM} * t.TEAM * t.DEPTH * 2) : 1;
    return 16 * (std::max(a, parts) + vectors) + staged_bytes(t, format);
}

namespace gemv_blocks {

constexpr Family make_mxint8() {
    Family f = plain;
    f.variant = "mxint8";
    f.accuracy = VKGEMM_ACCURACY_MXINT8;
    f.uses_packed_dots = true;
    // Four chunks at a time take more than in the plain family.
    f.live_registers = [](const Tile& t, const ElementBytes& e, const Registers& r) -> double {
        const uint32_t columns = t.BN * t.TEAM / t.WG;
        return gemv_blocks::plain.live_registers(t, e, r) + (t.DEPTH == 4 ? 80 * columns : 0);
    };
    f.shared_bytes = [](const Tile& t, const ElementBytes& e) { return gemv_mxint8_bytes(t, e, VKGEMM_TYPE_Q4_0); };
    f.shared_bytes_of_format = gemv_mxint8_bytes;
    f.refuses = [](const Problem& p) -> const char* {
        if (const char* why = plain.refuses(p)) return why;
        if (!is_rounded(p.a.type)) return "is for an A of f32, f16 or bf16";
        return has_dots(p.b.type) ? nullptr : "is for a B of the block formats from q8_0 to q6_k";
    };
    f.gpu_cost.mac = 0.008;
    f.gpu_cost.decode = 0.006;
    f.gpu_cost.bytes_per_cycle = 25;
    return f;
}
inline constexpr Family mxint8 = make_mxint8();

}  // namespace gemv_blocks
}  // namespace vkgemm::plan::family
