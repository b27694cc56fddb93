// SPDX-License-Identifier: MIT
// The contract between host and shaders. C++ and GLSL both compile this file, so it keeps to the subset they share.
#ifndef VKGEMM_ABI_H
#define VKGEMM_ABI_H

#include "constants.h"

#ifdef __cplusplus
#    include <cstdint>
namespace vkgemm::abi {
using uint = std::uint32_t;
struct uvec2 {
    uint x, y;
};
#endif

// Bits of ALIGNED: the operand's offset, leading dimension and batch stride are multiples of 16 bytes, and the length
// of its rows (columns where stored column-major) is one too, so that 16 bytes are either inside the operand or
// outside, never across its edge. Four elements of f64 are 32 bytes, and so all of these but the offset are multiples
// of 32.
#define WIDE_A 1
#define WIDE_B 2
#define WIDE_C 4
#define WIDE_D 8
// Of mixed types: elements of the operand, which have no blocks, may be read 16 bytes at a time. WIDE_A and WIDE_B then
// mean four elements.
#define CHUNKS_A 16
#define CHUNKS_B 32

// Bits of TABLE_HAS: sizes that each group has for itself; the two others are about the problem.
#define TABLE_HAS_M 1
#define TABLE_HAS_N 2
#define TABLE_HAS_K 4
#define TABLE_SWAPPED 8  // the problem was transposed: what the table calls A is the product's B, and m its n
#define TABLE_C_IS_D 16
#define TABLE_ADDRESSES 32  // its offsets are addresses, and no operand has an end
#define TABLE_MIXED 64      // A and B are read as modules of mixed types do

// Bits of SCALARS, as in VkgemmScalarFlagBits.
#define SCALARS_ALPHA 1
#define SCALARS_BETA 2
#define SCALARS_CLAMP 4
#define SCALARS_MONITOR 8
#define SCALARS_LARGEST 16

// Sizes that several families use. PACKED_ROW_BLOCK: rows of A, or columns of B, that pack_fragments keeps together.
// COOPMAT_D: vectors of 16 bytes in which D leaves the matrix units.
#define PACKED_ROW_BLOCK 64
#define COOPMAT_D(SUBGROUPS, WN, MM) ((SUBGROUPS) * (MM) * ((WN) / 4 + 1))
// What STEP_n and FORMAT_* may hold: VKGEMM_STEP_*, VKGEMM_TYPE_*. C++ has them as enums.
#ifndef __cplusplus
#    include "../include/vkgemm/tables.h"
#    define VKGEMM_ROW(name, number, text, bytes, elements, digits, is_float, accumulator, result) \
        const uint name = number;
VKGEMM_TYPE_ROWS(VKGEMM_ROW)
#    undef VKGEMM_ROW
const uint VKGEMM_STEP_NONE = 0u;
#    define VKGEMM_ROW(name, number, text, accumulators, operand, shape, meaning) const uint name = number;
VKGEMM_STEP_ROWS(VKGEMM_ROW)
#    undef VKGEMM_ROW
#endif

// Bindings of set 0 in the descriptor variant of a module; in the address variant the same order of Args members.
#define BIND_A 0
#define BIND_B 1
#define BIND_C 2
#define BIND_D 3
#define BIND_BIAS 4
#define BIND_SCALE 5
#define BIND_RESIDUAL 6
#define BIND_COUNT 7

// Two words with two meanings, because many devices have only 128 bytes of push constants: bits of the f32 bounds of
// VKGEMM_STEP_CLAMP where SCALARS is 0, else the address of VkgemmScalars, which has those bounds.
#ifdef __cplusplus
union ClampOrScalars {
    struct {
        uint low, high;
    } clamp;
    uvec2 scalars;
};
#else
#    define ClampOrScalars uvec2
#    define CLAMP_LOW uintBitsToFloat(args.clamp_or_scalars.x)
#    define CLAMP_HIGH uintBitsToFloat(args.clamp_or_scalars.y)
#    define SCALARS_AT args.clamp_or_scalars
#endif

// Push constants. Strides are in elements. a to d, bias, scale and residual are where operands begin: in the descriptor
// variant x = elements past the bound offset, y = 0; in the address variant the 64-bit address, low word first.
struct GemmArgs {
    uint m, n, k, batch;                      // D is m x n, the sum runs over k
    uint lda, ldb, ldc, ldd;                  // elements between consecutive rows (columns where stored column-major)
    uint batch_a, batch_b, batch_c, batch_d;  // elements between consecutive matrices; 0 = the same one again
    uint alpha, beta;                         // bits of a value of the accumulator's type; of f64 the low words
    uint k_chunk;                             // depth of one slice if K is split, a multiple of BK; else k
    uint raster;                              // tiles of D per raster band (see tile_of in gemm.glsl); 0 = row by row
    uvec2 a, b, c, d, bias, scale, residual;
    ClampOrScalars clamp_or_scalars;
#if defined(__cplusplus) || defined(SUMS_IN_F64)
    uint alpha_high, beta_high;  // the high words of alpha and beta, of modules that sum in f64 alone
#endif
};

// Push constants of the variant for groups: what its products share. Fields without a remark are GemmArgs'.
struct GroupedArgs {
    uint m, n, k, batch;  // with an index list of rows m is D's as a whole; with a list of tiles batch counts groups
    uint lda, ldb, ldd;   // of matrices of B that indices choose; else the list has each product's own
    uint raster;
    uint batch_a, batch_d;     // likewise
    uint apart_b, matrices_b;  // of B that indices choose: bytes from one matrix to the next, and how many there are
    uint alpha, beta;
    ClampOrScalars clamp_or_scalars;
    uvec2 a, b;  // of matrices of B that indices choose
    uvec2 d;     // where D as a whole begins
    uvec2 bias, scale, residual;
    uvec2 list;     // of tiles, by list_tiles
    uvec2 indices;  // that choose matrices of B
#if defined(__cplusplus) || defined(SUMS_IN_F64)
    uint alpha_high, beta_high;
#endif
};

// Products of one plan that differ in sizes and places (VkgemmGrouping). list_tiles checks the caller's table of
// VkgemmGroup, and writes a list of what is to be computed, which the product's work groups search. Both are in words.
#define GROUP_M 0
#define GROUP_N 1
#define GROUP_K 2
#define GROUP_FIRST 3   // of its indices
#define GROUP_LD 4      // of A, B, C, D
#define GROUP_OFFSET 8  // of A, B, C, D, elements: two words each
#define GROUP_WORDS 16

// The list: the three words of an indirect dispatch, the number of groups, and then of each of them:
#define LISTED_FIRST_TILE 0  // the number of tiles of all groups before it
#define LISTED_M 1
#define LISTED_N 2
#define LISTED_K 3
#define LISTED_LD 4       // of A, B, C, D
#define LISTED_ADDRESS 8  // of A, B, C, D, and of its indices: two words each
#define LISTED_WORDS 20
#define LIST_HEADER_WORDS 4
#define LIST_TILES_MOST_INVOCATIONS 256  // of list_tiles, whose WG this is

// Push constants of list_tiles. Addresses and bytes are 64-bit numbers, low word first.
struct TableArgs {
    uint m, n, k, count;               // the largest sizes, and the number of groups in the table
    uint lda, ldb, ldc, ldd;           // of groups that leave theirs 0
    uvec2 a, b, c, d;                  // where the operands begin
    uvec2 end_a, end_b, end_c, end_d;  // and end
    uvec2 table, list, indices;
    uint index_count;
    uint max_groups_x;  // of a dispatch
};

#ifdef __cplusplus
static_assert(sizeof(TableArgs) <= 128);
/// Bytes of push constants: of modules that sum in f64, and of all others.
inline constexpr uint f64_argument_bytes = sizeof(GemmArgs), argument_bytes = f64_argument_bytes - 2 * sizeof(uint);
static_assert(sizeof(GroupedArgs) == sizeof(GemmArgs));
static_assert(argument_bytes == 128, "every device has 128 bytes of push constants, and many have no more");
}  // namespace vkgemm::abi
#endif
#endif
