// SPDX-License-Identifier: MIT
// Products on the matrix units whose operands `pack_fragments` has put into the order of the registers. A subgroup keeps WM x WN
// sums and reads its fragments straight from memory, one slice of k ahead: there is no shared memory to fill and no
// barrier in the loop, and the subgroups of a multiprocessor, each at a place of its own, fill one another's waits.
// What neighbours read at nearly the same time comes from the first-level cache.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require
#extension GL_EXT_bfloat16 : require
#pragma use_vulkan_memory_model
#include "gemm.glsl"
#include "chunk16.glsl"
#include "matrix.glsl"
#include "coopmat_packed.glsl"

const uint PA = PIECE(TYPE_A), PB = PIECE(TYPE_B);
const uint NI = WM / MM, NJ = WN / MN;
const uint ACROSS_A = PACKED_ROW_BLOCK / MM * SG, ACROSS_B = PACKED_ROW_BLOCK / MN * SG;  // pieces in a slice of a row_block
const uint SETS = 1, SHARES = (BM / WM) * (BN / WN), ROW_D = WN / 4 + 1;
shared uvec4 tile[COOPMAT_D(SHARES, WN, MM)];
SUMS sums[NI * NJ];

uint row0, col0, sub_row, sub_col, set;
#include "matrix_out.glsl"

#define FETCH(parity, slice)                                                                                \
    [[unroll]] for (uint i = 0; i < NI; ++i) next_a##parity[i] = WIDE(a, at_a + (slice) * ACROSS_A + i * SG);  \
    [[unroll]] for (uint j = 0; j < NJ; ++j) next_b##parity[j] = WIDE(b, at_b + (slice) * ACROSS_B + j * SG);
#define MULTIPLY(parity, slice) {                                                                           \
    [[unroll]] for (uint i = 0; i < NI; ++i)                                                                \
        if (a[i].length() * SG == MM * MK) { SPREAD(a[i], next_a##parity[i]) }                              \
        else coopMatLoad(a[i], LINES(a), plain_a + (slice) * ACROSS_A + i * SG, MK / PA, ROWS);             \
    [[unroll]] for (uint j = 0; j < NJ; ++j)                                                                \
        if (b[j].length() * SG == MK * MN) { SPREAD(b[j], next_b##parity[j]) }                              \
        else coopMatLoad(b[j], LINES(b), plain_b + (slice) * ACROSS_B + j * SG, MK / PB, COLUMNS);          \
    [[unroll]] for (uint i = 0; i < NI; ++i)                                                                \
        [[unroll]] for (uint j = 0; j < NJ; ++j) sums[i * NJ + j] = coopMatMulAdd(a[i], b[j], sums[i * NJ + j]); }

void sum_up() {
    const uint slices = args.lda / MK, first = k_begin / MK, end = k_end == args.k ? slices : k_end / MK;
    const uint from_a = batch * (args.batch_a / PA) + begin_of(row0 + sub_row, args.m, MM, ACROSS_A, slices);
    const uint from_b = batch * (args.batch_b / PB) + begin_of(col0 + sub_col, args.n, MN, ACROSS_B, slices);
    const uint at_a = from_a + gl_SubgroupInvocationID, at_b = from_b + gl_SubgroupInvocationID;
    const uint plain_a = BEGIN(a) + from_a, plain_b = BEGIN(b) + from_b;
    uvec4 next_a0[NI], next_b0[NJ], next_a1[NI], next_b1[NJ];
    A_MATRIX a[NI];
    B_MATRIX b[NJ];
    const uint steps = (end - first) / 2, phase = 2 * (row0 / BM) + col0 / BN;
    uint s = first + 2 * walked(0, steps, phase);
    FETCH(0, s)
    for (uint t = 1; t <= steps; ++t) {
        const uint after = first + 2 * walked(t, steps, phase);
        FETCH(1, s + 1)
        MULTIPLY(0, s)
        FETCH(0, after)
        MULTIPLY(1, s + 1)
        s = after;
    }
}

void main() {
    if (!tile_of(row0, col0)) return;
    set = 0;
    sub_row = gl_SubgroupID / (BN / WN) * WM, sub_col = gl_SubgroupID % (BN / WN) * WN;
    [[unroll]] for (uint i = 0; i < NI * NJ; ++i) sums[i] = SUMS(SUM(0));
    if (k_end > k_begin) sum_up();
    store();
}
