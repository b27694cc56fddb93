// SPDX-License-Identifier: MIT
// The specialization constants of all shaders, for C++ and GLSL.
#ifndef VKGEMM_CONSTANTS_H
#define VKGEMM_CONSTANTS_H

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
    X(12, STAGES, "tiles in flight, or the number of a loop: see the family's page")          \
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
    X(54, SCALARS, "what is in VkgemmScalars, SCALARS_* bits; by addresses alone")          \
    X(55, PAIR, "1: a gate is the product by B2, in C's place, its bias in the residual's") \
    X(56, PRODUCTS, "f64 from int8: of how many products, one for each modulus")

#endif
