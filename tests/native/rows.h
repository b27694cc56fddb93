// SPDX-License-Identifier: MIT
// The modules, the passes before them and the tiles that the harness runs.
#pragma once
#include "plan/kernels/kernels.h"

namespace harness {

namespace plan = vkgemm::plan;
namespace spirv = vkgemm::spirv;
using plan::Tile;

const plan::Family family{}, of_f16x2{.operand_split = {2, plan::f16, true}},
    of_bf16x3{.operand_split = {3, plan::bf16}};
const spirv::PackedModule no_code{};
const plan::Module modules[] = {
    {"wgmma_f16", family, plan::Role::product, plan::f16, plan::f16, plan::f16, plan::f32, no_code},
    {"wgmma_f16_f32", family, plan::Role::product, plan::f16, plan::f16, plan::f32, plan::f32, no_code},
    {"wgmma_bf16", family, plan::Role::product, plan::bf16, plan::bf16, plan::bf16, plan::f32, no_code},
    {"wgmma_bf16_f32", family, plan::Role::product, plan::bf16, plan::bf16, plan::f32, plan::f32, no_code},
    {"wgmma_f64", family, plan::Role::product, plan::f64, plan::f64, plan::f64, plan::f64, no_code},
    {"wgmma_i8", family, plan::Role::product, plan::i8, plan::i8, plan::i32, plan::i32, no_code},
    {"wgmma_i8_scaled", family, plan::Role::product, plan::i8, plan::i8, plan::scaled, plan::i32, no_code},
    {"wgmma_fp8", family, plan::Role::product, plan::e4m3, plan::e4m3, plan::scaled, plan::f32, no_code},
    {"wgmma_f16x2", of_f16x2, plan::Role::packed_product, plan::f32, plan::f32, plan::f32, plan::f32, no_code},
    {"wgmma_bf16x3", of_bf16x3, plan::Role::packed_product, plan::f32, plan::f32, plan::f32, plan::f32, no_code},
};
const plan::Module packers[] = {
    {"pack_parts_f16x2", of_f16x2, plan::Role::packer, plan::f32, plan::f32, plan::f32, plan::f32, no_code},
    {"pack_parts_bf16x3", of_bf16x3, plan::Role::packer, plan::f32, plan::f32, plan::f32, plan::f32, no_code},
};
const Tile packer_tiles[] = {{.WG = 256, .BM = 8, .BN = 256}, {.WG = 256, .BM = 16, .BN = 128}};
const char* const packer_names[] = {"pack_parts_f16x2_8x256", "pack_parts_bf16x3_16x128"};
struct Row {
    const char* name;
    Tile tile;
};
const Row rows[] = {
    {"128x256x64", {.WG = 384, .BM = 128, .BN = 256, .BK = 64, .STAGES = 4, .RASTER = 8}},
    {"128x192x64", {.WG = 384, .BM = 128, .BN = 192, .BK = 64, .STAGES = 4, .RASTER = 8}},
    {"128x128x64", {.WG = 384, .BM = 128, .BN = 128, .BK = 64, .STAGES = 6, .RASTER = 8}},
    {"128x64x64", {.WG = 384, .BM = 128, .BN = 64, .BK = 64, .STAGES = 8, .RASTER = 8}},
    {"64x128x64", {.WG = 384, .BM = 64, .BN = 128, .BK = 64, .STAGES = 8, .RASTER = 8}},
    {"64x64x64", {.WG = 384, .BM = 64, .BN = 64, .BK = 64, .STAGES = 12, .RASTER = 8}},
    {"64x32x64", {.WG = 384, .BM = 64, .BN = 32, .BK = 64, .STAGES = 16, .RASTER = 8}},
    {"128x64x16", {.WG = 384, .BM = 128, .BN = 64, .BK = 16, .STAGES = 8, .RASTER = 8}},
    {"128x128x16", {.WG = 384, .BM = 128, .BN = 128, .BK = 16, .STAGES = 6, .RASTER = 8}},
    {"128x256x128", {.WG = 384, .BM = 128, .BN = 256, .BK = 128, .STAGES = 4, .RASTER = 8}},
    {"128x192x128", {.WG = 384, .BM = 128, .BN = 192, .BK = 128, .STAGES = 4, .RASTER = 8}},
    {"128x128x128", {.WG = 384, .BM = 128, .BN = 128, .BK = 128, .STAGES = 6, .RASTER = 8}},
    {"128x64x128", {.WG = 384, .BM = 128, .BN = 64, .BK = 128, .STAGES = 8, .RASTER = 8}},
    {"64x128x128", {.WG = 384, .BM = 64, .BN = 128, .BK = 128, .STAGES = 8, .RASTER = 8}},
};

}  // namespace harness
