// SPDX-License-Identifier: MIT
// The contract between host and shaders. C++ and GLSL both compile this file, so it keeps to the subset they share.
#ifndef VKGEMM_ABI_H
#define VKGEMM_ABI_H

#ifdef __cplusplus
#    include <cstdint>
namespace vkgemm::abi {
using uint = std::uint32_t;
struct uvec2 {
    uint x, y;
};
#endif

// The numbers that make a tile: specialization constants, by name on both sides. X(id, name, meaning). Only the host
// reads RASTER, SPLIT and PACK, which order the work groups and the passes and do not change the code. One line adds a
// constant. An id never has two meanings; a tile with a constant that its family does not read is refused.
#define VKGEMM_TILE_CONSTANTS(X)                                                              \
    X(0, WG, "invocations per work group")                                                    \
    X(1, BM, "rows of D per work group")                                                      \
    X(2, BN, "columns of D per work group")                                                   \
    X(3, BK, "depth of one trip through shared memory")                                       \
    X(4, WM, "rows of D per subgroup")                                                        \
    X(5, WN, "columns of D per subgroup")                                                     \
    X(6, TM, "rows of D per invocation")                                                      \
    X(7, TN, "columns of D per invocation")                                                   \
    X(8, MM, "rows of one matrix-unit product")                                               \
    X(9, MN, "columns of one matrix-unit product")                                            \
    X(10, MK, "depth of one matrix-unit product")                                             \
    X(11, SG, "invocations per subgroup; 0: any")                                             \
    X(12, STAGES, "tiles in flight between memory and arithmetic")                            \
    X(13, RASTER, "rows of tiles in a band that work groups walk down; 0: one")               \
    X(14, SPLIT, "slices of K; 0: chosen by the plan")                                        \
    X(15, PACK, "operands packed first; 0: chosen by the plan, 1: none, 2: A, 3: B, 4: both") \
    X(16, TEAM, "gemv families, reduce_k: invocations that share a sum")                      \
    X(17, DEPTH, "gemv: loads of 16 bytes that an invocation has in flight")

// Numbers that follow from the problem: specialization constants too, set by the plan, never by a user.
#define VKGEMM_PROBLEM_CONSTANTS(X)                                                         \
    X(32, TRANS_A, "1: A is stored column-major")                                           \
    X(33, TRANS_B, "1: B is stored column-major")                                           \
    X(34, TRANS_C, "1: C is stored column-major (D never is)")                              \
    X(35, ALIGNED, "WIDE_* bits: which operands may be read or written 16 bytes at a time") \
    X(36, WHOLE, "1: m, n and k are multiples of the tile, so no edge is tested")           \
    X(37, USE_C, "1: there is a C, read if beta is not 0")                                  \
    X(38, STEP_0, "first step of the epilogue, a VKGEMM_STEP_* number")                     \
    X(39, STEP_1, "second step")                                                            \
    X(40, STEP_2, "third step")                                                             \
    X(41, STEP_3, "fourth step")                                                            \
    X(42, FORMAT_A, "mixed types and list_tiles: the type of A, a VKGEMM_TYPE_* number")    \
    X(43, FORMAT_B, "likewise of B")                                                        \
    X(44, PARTIAL, "1: split-K partial sums, written raw to the workspace")                 \
    X(45, BY_INDEX, "grouped: an index list gives 1: rows of A and D, 2: matrices of B")    \
    X(46, INDICES_PER_ROW, "grouped: how many indices a row of A has; 0 without a list")    \
    X(47, FORMAT_D, "list_tiles, scaled products: the type of D, a VKGEMM_TYPE_* number")   \
    X(48, TABLE_HAS, "list_tiles: what it takes from the table, TABLE_HAS_* bits")          \
    X(49, FORMAT_C, "the type of C, a VKGEMM_TYPE_* number; 0: D's")                        \
    X(50, FORMAT_BIAS, "likewise of the bias")                                              \
    X(51, FORMAT_SCALE, "likewise of the scale")                                            \
    X(52, FORMAT_RESIDUAL, "likewise of the residual")                                      \
    X(53, SLOPE, "bits of the f32 slope of VKGEMM_STEP_LEAKY_RELU")                         \
    X(54, SCALARS, "what is in VkgemmScalars, SCALARS_* bits; by addresses alone")

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

// Shared memory of the families, in elements of the accumulator's type, as the shader and the host count it.
#define TILED_A(BM, BN, BK) ((BM) * (BK))
#define TILED_B(BM, BN, BK) ((BK) * (BN))
#define VEC4_A(BM, BN, BK) ((BM) * (BK))
#define VEC4_B(BM, BN, BK) ((BK) * (BN))
#define BLOCK_PAD 4  // elements between two k, against bank conflicts; 4 keeps every vec4 on 16 bytes
#define BLOCK_A(BM, BN, BK) ((BK) * ((BM) + BLOCK_PAD))
#define BLOCK_B(BM, BN, BK) ((BK) * ((BN) + BLOCK_PAD))
#define CPU_ROWS 8    // rows that cpu sums side by side
#define SIMT_TEAM 32  // invocations that share a part of D; a subgroup on most devices, but nothing depends on that
#define SIMT_PAD 4
#define SIMT_A(BM, BN, BK) ((BK) * ((BM) + SIMT_PAD))
#define SIMT_B(BM, BN, BK) ((BK) * ((BN) + SIMT_PAD))
// gemv_mixed, in vectors of four: a row of the small operand's step, one more behind every eight for the banks.
#define GEMV_MIXED_ROW(TEAM) ((TEAM)*9)
#define GEMV_BLOCKS_ROW(TEAM) ((TEAM)*17)  // likewise a row of A's step in gemv_blocks, behind every sixteen
#define GEMV_MXINT8_LANE(DEPTH) (5 * (DEPTH) | 1)  // what an invocation of gemv_mxint8 multiplies of a row of A
// coopmat, in 16-byte chunks of PER_CHUNK elements: SLOTS slices of one operand, k-contiguous or not; later D.
#define COOPMAT_CHUNKS(K_CONTIGUOUS, SIDE, MK, SLOTS, PER_CHUNK) \
    ((K_CONTIGUOUS) ? ((SLOTS) * ((MK) / (PER_CHUNK)) + 1) * (SIDE) : ((SIDE) / (PER_CHUNK) + 1) * (SLOTS) * (MK))
// coopmat with STAGES 0: two slices of a matrix for each subgroup.
#define COOPMAT_STRAIGHT(SUBGROUPS, MM, MK, PER_CHUNK) ((SUBGROUPS) * (MM) * (2 * (MK) / (PER_CHUNK) + 1))
// pack_fragments, in 16-byte chunks: a tile whose rows are LENGTH elements long.
#define PACK_FRAGMENTS_CHUNKS(ROWS, LENGTH, PER_CHUNK) ((ROWS) * ((LENGTH) / (PER_CHUNK) + 1))
// pack: one word for an element of up to 4 bytes, two for one of 8, a row of them longer than the tile's.
#define PACK_CELLS(BM, BN, BYTES) ((BM) * ((BN) + 1) * ((BYTES) > 4 ? 2 : 1))
#define PACKED_ROW_BLOCK 64  // rows of A, or columns of B, that pack_fragments keeps together
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

// Two words of the push constants, which no device has more of: bits of the f32 bounds of VKGEMM_STEP_CLAMP where
// SCALARS is 0, else the address of VkgemmScalars, which has those bounds.
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
