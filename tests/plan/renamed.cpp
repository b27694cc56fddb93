// SPDX-License-Identifier: MIT
// Every kernel name of vkgemm 0.1 that has changed.
#include "plan/kernels/renamed.h"

#include <doctest/doctest.h>

#include "plan/kernels/kernels.h"
#include "support/string_util.h"

using namespace vkgemm::plan;

namespace {

constexpr std::pair<const char*, const char*> names[] = {
    {"tiled_f32_oblong16", "tiled_f32_8x8x32"},
    {"tiled_f32_oblong32", "tiled_f32_16x16x64"},
    {"tiled_i32_oblong16", "tiled_i32_8x8x32"},
    {"tiled_i32_oblong32", "tiled_i32_16x16x64"},
    {"panel_f32_32x32", "cpu_f32_32x32"},
    {"panel_i32_32x32", "cpu_i32_32x32"},
    {"panel_f16_32x32", "cpu_f16_32x32"},
    {"panel_f16_f32_32x32", "cpu_f16_f32_32x32"},
    {"panel_bf16_32x32", "cpu_bf16_32x32"},
    {"panel_bf16_f32_32x32", "cpu_bf16_f32_32x32"},
    {"panel_i8_32x32", "cpu_i8_32x32"},
    {"panel_u8_32x32", "cpu_u8_32x32"},
    {"panel_f32_8x32", "cpu_f32_8x32"},
    {"panel_i32_8x32", "cpu_i32_8x32"},
    {"panel_f16_8x32", "cpu_f16_8x32"},
    {"panel_f16_f32_8x32", "cpu_f16_f32_8x32"},
    {"panel_bf16_8x32", "cpu_bf16_8x32"},
    {"panel_bf16_f32_8x32", "cpu_bf16_f32_8x32"},
    {"panel_i8_8x32", "cpu_i8_8x32"},
    {"panel_u8_8x32", "cpu_u8_8x32"},
    {"panel_f32_64x32", "cpu_f32_64x32"},
    {"panel_f32_16x32", "cpu_f32_16x32"},
    {"panel_f32_2x32", "cpu_f32_2x32"},
    {"panel_f32_32x8", "cpu_f32_32x8"},
    {"panel_i32_64x32", "cpu_i32_64x32"},
    {"panel_i8_64x32", "cpu_i8_64x32"},
    {"panel_u8_64x32", "cpu_u8_64x32"},
    {"coopmat_f16_32x32x16_8", "coopmat_f16_32x32x16_mma8"},
    {"coopmat_f16_f32_32x32x16_8", "coopmat_f16_f32_32x32x16_mma8"},
    {"coopmat_bf16_32x32x16_8", "coopmat_bf16_32x32x16_mma8"},
    {"coopmat_bf16_f32_32x32x16_8", "coopmat_bf16_f32_32x32x16_mma8"},
    {"coopmat_f16_16x16x64_8", "coopmat_f16_16x16x64_mma8"},
    {"coopmat_f16_f32_16x16x64_8", "coopmat_f16_f32_16x16x64_mma8"},
    {"coopmat_bf16_16x16x64_8", "coopmat_bf16_16x16x64_mma8"},
    {"coopmat_bf16_f32_16x16x64_8", "coopmat_bf16_f32_16x16x64_mma8"},
    {"coopmat_f16h_32x32x16_8", "coopmat_f16h_32x32x16_mma8"},
    {"weave_f16_64x64", "pack_fragments_f16_64x64"},
    {"weave_bf16_64x64", "pack_fragments_bf16_64x64"},
    {"weave_f16_64x64_8", "pack_fragments_f16_64x64_mma8"},
    {"weave_bf16_64x64_8", "pack_fragments_bf16_64x64_mma8"},
    {"woven_f16_128x128x32", "coopmat_packed_f16_128x128x32"},
    {"woven_f16_f32_128x128x32", "coopmat_packed_f16_f32_128x128x32"},
    {"woven_bf16_128x128x32", "coopmat_packed_bf16_128x128x32"},
    {"woven_bf16_f32_128x128x32", "coopmat_packed_bf16_f32_128x128x32"},
    {"woven_f16_128x256x32", "coopmat_packed_f16_128x256x32"},
    {"woven_f16_f32_128x256x32", "coopmat_packed_f16_f32_128x256x32"},
    {"woven_bf16_128x256x32", "coopmat_packed_bf16_128x256x32"},
    {"woven_bf16_f32_128x256x32", "coopmat_packed_bf16_f32_128x256x32"},
    {"woven_f16_16x32x16_8", "coopmat_packed_f16_16x32x16_mma8"},
    {"woven_f16_f32_16x32x16_8", "coopmat_packed_f16_f32_16x32x16_mma8"},
    {"woven_bf16_16x32x16_8", "coopmat_packed_bf16_16x32x16_mma8"},
    {"woven_bf16_f32_16x32x16_8", "coopmat_packed_bf16_f32_16x32x16_mma8"},
    {"weave_thirds_64x32", "pack_fragments_bf16x3_64x32"},
    {"thirds_f32_64x64x32", "bf16x3_f32_64x64x32"},
    {"thirds_f32_64x32x32", "bf16x3_f32_64x32x32"},
    {"weave_halves_16x128", "pack_fragments_f16x2_16x128"},
    {"weave_halves_16x32_8", "pack_fragments_f16x2_16x32_mma8"},
    {"halves_f32_128x64x32", "f16x2_f32_128x64x32"},
    {"halves_f32_64x64x32", "f16x2_f32_64x64x32"},
    {"halves_f32_16x16x16_8", "f16x2_f32_16x16x16_mma8"},
    {"gemv_f32_16x1_8", "gemv_f32_16x1_depth8"},
    {"gemv_f16_16x1_8", "gemv_f16_16x1_depth8"},
    {"gemv_bf16_16x1_8", "gemv_bf16_16x1_depth8"},
    {"gemv_f32_1x64_4", "gemv_f32_1x64_depth4"},
    {"gemv_f16_1x64_4", "gemv_f16_1x64_depth4"},
    {"gemv_bf16_1x64_4", "gemv_bf16_1x64_depth4"},
};

}  // namespace

TEST_CASE("an old kernel name is understood") {
    for (const auto& name : names) {
        const auto& [old, present] = name;
        const std::string from(old), to(present);
        CHECK_MESSAGE(renamed_kernel(from) == to, from);
        CHECK_MESSAGE(find_kernel(to), to);
    }
    CHECK(vkgemm::test::has_words(renamed_text("weave_f16_64x64", "pack_fragments_f16_64x64"), "weave_f16_64x64 is",
                                  "pack_fragments_f16_64x64"));
}

TEST_CASE("a present name, and one that never was, stay as they are") {
    for (const Kernel& k : kernels()) CHECK_MESSAGE(!renamed_kernel(k.name), std::string(k.name));
    for (const char* name :
         {"", "weave_", "woven_f16_128x128x33", "coopmat_f16_128x64x64_8", "gemv_f32_8", "panel_f32"})
        CHECK_MESSAGE(!renamed_kernel(name), std::string(name));
}
