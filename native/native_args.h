// SPDX-License-Identifier: MIT
// The contract between host and native kernels, compiled by C++ and nvcc: the one parameter of every entry point, and
// the shared memory of a block.
#pragma once
#include <cstdint>

#include "shaders/abi.h"

namespace vkgemm::native {

/// Places in NativeArgs::constants, in the order of VKGEMM_PROBLEM_CONSTANTS.
enum Constant : uint32_t {
#define X(id, name, meaning) name,
    VKGEMM_PROBLEM_CONSTANTS(X)
#undef X
        constant_count
};

/// What the copy engine (TMA) knows of a matrix in memory: CUtensorMap, opaque to the kernels.
struct alignas(64) TensorMap {
    uint64_t words[16];
};

/// Boxes that the copy engine moves are 128 bytes wide, the span of its widest swizzle.
inline constexpr uint32_t box_bytes = 128;
/// Rows of D that a warp stores at a time.
inline constexpr uint32_t store_rows = 16;

struct NativeArgs {
    TensorMap a, b;  // boxes: where k runs along the lines, as many of a tile's as there can be; else BK
    TensorMap d;     // boxes of store_rows x box_bytes; where PARTIAL is 1 the sums of every slice and product
    uint32_t slices, tiles_m, tiles_n;  // work: slices of K x products of the batch x tiles of D
    uint32_t loaded_bytes;              // of A's and B's boxes together, for one step of a tile
    uint32_t d_is_mapped;               // 0: `d` is void: D's address, pitch or n is not a multiple of 16 bytes
    abi::GemmArgs args;                 // with addresses
    uint32_t constants[constant_count];
};
static_assert(sizeof(NativeArgs) <= 4000, "the most that a launch takes as parameters");

// The shared memory of a block: STAGES pairs of tiles of A and B, at multiples of 1024 bytes because the swizzle
// repeats after so many; then where every warp that consumes lays out what it stores; then two barriers of 8 bytes for
// each stage.
inline constexpr uint32_t swizzle_bytes = 1024;
inline constexpr uint32_t consumer_warps = 8;
inline constexpr uint32_t staging_bytes = 4096;  // of a warp: two boxes of D on their way

constexpr uint32_t wgmma_shared_bytes(uint32_t BM, uint32_t BN, uint32_t BK, uint32_t STAGES, uint32_t bytes_ab,
                                      uint32_t /*bytes_d*/) {
    return swizzle_bytes + STAGES * (BM + BN) * BK * bytes_ab + consumer_warps * staging_bytes + STAGES * 16;
}

/// The same of a block that splits BM rows of f32, BN of k at a time (pack_parts.cuh).
constexpr uint32_t pack_parts_shared_bytes(uint32_t BM, uint32_t BN) { return 4 * (BM * (BN + 4) + BM); }

}  // namespace vkgemm::native
