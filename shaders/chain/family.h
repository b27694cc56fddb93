// SPDX-License-Identifier: MIT
// What C++ knows of the shaders of chains. They compute several products, so they are no rows of kernels: the one
// function that decides about them is plan::fuse().
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "plan/device/device_caps.h"
#include "shaders/chain/args.h"
#include "shaders/common/packed_module.h"

namespace vkgemm::spirv {
extern const PackedModule chain_f16, chain_f16_converted, chain_bf16, chain_bf16_converted, chain_simt_f32,
    chain_simt_f32_4, chain_simt_f16, chain_simt_f16_4, chain_simt_bf16, chain_simt_bf16_4;
}  // namespace vkgemm::spirv

namespace vkgemm::plan {

/// One module of SPIR-V. Of two that fit, the earlier one is faster.
struct ChainModule {
    std::string_view name;
    const spirv::PackedModule& embedded;
    Type type;  // of A, B and D; sums are f32
    FeatureSet needs;
    uint32_t minor_version;  // of Vulkan 1, that its SPIR-V needs
    uint32_t layers;         // at most
    bool on_matrix_units;

    uint32_t argument_bytes() const { return CHAIN_ARGUMENT_WORDS(layers) * 4; }
};
inline constexpr FeatureSet chain_memory = need::storage16 | need::buffer_address;
#define CHAIN_ROW(module, of_type, features, minor, most_layers, matrix)                                        \
    ChainModule {                                                                                               \
        .name = #module, .embedded = spirv::module, .type = of_type, .needs = features, .minor_version = minor, \
        .layers = most_layers, .on_matrix_units = matrix                                                        \
    }
// A module for four layers needs no more push constants than every device has.
inline const std::array chain_modules = {
    CHAIN_ROW(chain_f16_converted, f16, need::matrix_f16 | chain_memory | need::coopmat2_conversions, 3, CHAIN_LAYERS,
              true),
    CHAIN_ROW(chain_f16, f16, need::matrix_f16 | chain_memory, 3, CHAIN_LAYERS, true),
    CHAIN_ROW(chain_bf16_converted, bf16, need::matrix_bf16 | chain_memory | need::coopmat2_conversions, 3,
              CHAIN_LAYERS, true),
    CHAIN_ROW(chain_bf16, bf16, need::matrix_bf16 | chain_memory, 3, CHAIN_LAYERS, true),
    CHAIN_ROW(chain_simt_f32_4, f32, need::buffer_address, 1, 4, false),
    CHAIN_ROW(chain_simt_f32, f32, need::buffer_address, 1, CHAIN_LAYERS, false),
    CHAIN_ROW(chain_simt_f16_4, f16, chain_memory, 1, 4, false),
    CHAIN_ROW(chain_simt_f16, f16, chain_memory, 1, CHAIN_LAYERS, false),
    CHAIN_ROW(chain_simt_bf16_4, bf16, chain_memory, 1, 4, false),
    CHAIN_ROW(chain_simt_bf16, bf16, chain_memory, 1, CHAIN_LAYERS, false),
};
#undef CHAIN_ROW

/// How a work group divides rows on the matrix units. The first tile that fits is taken, or a later one whose time is
/// known and less for the rows: the more rows a wave of work groups computes, the less often the weights are read for a
/// row, and the more rows are missing from the last wave.
struct ChainTile {
    uint32_t subgroups;            // of a work group
    uint32_t matrices;             // of rows that a subgroup computes at once
    bool resident;                 // the weights of all layers are in shared memory
    uint32_t groups;               // of a multiprocessor, at most
    double wave_microseconds = 0;  // four layers of 64, f16, on an H200; 0: not measured
    // It has few registers to spare, so it is only for a row-major A and row-major D without residuals; with three
    // matrices of rows only for f16. A column-major A took 283 us instead of 258 (four layers of 64), bf16 509 instead
    // of 427.
    bool needs_registers = false;
    bool takes_wide = false;  // beyond CHAIN_WIDTH, where it needs_registers, too
};
inline constexpr auto chain_tiles = std::to_array<ChainTile>({
    {.subgroups = 8, .matrices = 2, .resident = true, .groups = 1, .wave_microseconds = 3.81, .takes_wide = true},
    {.subgroups = 8, .matrices = 3, .resident = true, .groups = 1, .wave_microseconds = 5.19, .needs_registers = true},
    {.subgroups = 12, .matrices = 2, .resident = true, .groups = 1, .wave_microseconds = 5.61, .needs_registers = true},
    {.subgroups = 4, .matrices = 2, .resident = true, .groups = 2},
    {.subgroups = 8, .matrices = 2, .resident = false, .groups = 2, .takes_wide = true},
    {.subgroups = 4, .matrices = 2, .resident = false, .groups = 3},
    {.subgroups = 2, .matrices = 2, .resident = false, .groups = 4},
    {.subgroups = 1, .matrices = 2, .resident = false, .groups = 8},
    {.subgroups = 1, .matrices = 1, .resident = false, .groups = 8},
});

/// How it does without them.
struct ChainSimtTile {
    uint32_t invocations, rows;  // of a work group
    uint32_t depth;              // rows of weights in shared memory
};
inline constexpr std::array chain_simt_tiles = {
    ChainSimtTile{.invocations = 128, .rows = 64, .depth = 16},
    ChainSimtTile{.invocations = 64, .rows = 32, .depth = 16},
};
/// Bytes of shared memory: rows and weights, in vectors of four.
constexpr uint64_t chain_simt_shared_bytes(uint64_t rows, uint64_t depth, uint64_t max_width) {
    return 16 * (rows * (max_width / 4 + 1) + depth * (max_width / 4));
}
/// Rows that an invocation computes at once: each takes four registers.
inline constexpr uint32_t chain_simt_most_rows_each = 16;

/// Bytes of shared memory on the matrix units: weights, biases, zeros, masks, and a matrix of each subgroup that passes
/// through.
constexpr uint64_t chain_shared_bytes(uint64_t weight_chunks, uint64_t layers, uint64_t max_width, uint64_t mm,
                                      uint64_t subgroups) {
    return 16 * (weight_chunks + layers * (max_width / 4) + (layers + 1) * (mm / 4) + subgroups * mm * (mm / 8 + 1));
}
inline constexpr uint32_t chain_most_shared_bytes = 49152;
/// Of a subgroup: each row takes registers for its sums and operands.
inline constexpr uint32_t chain_most_rows_at_once = 64;

/// Wider rows were measured for f16, with no D stored but the last, from so many rows on: four layers of 128 on an H200
/// take 42 us for 65,536 rows instead of 57, and 167 for 262,144 instead of 188.
inline constexpr uint64_t chain_least_rows_wide = 65536;

/// If every D is stored, memory is the bound, and beyond so many rows separate products are faster: four layers of 64
/// on an H200 took 97 us for 262,144 rows instead of 88, but 29 us for 65,536 instead of 33.
inline constexpr uint64_t chain_most_rows_all_kept = 131072;

}  // namespace vkgemm::plan
