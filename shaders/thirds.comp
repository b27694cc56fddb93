// SPDX-License-Identifier: MIT
// f32 products on matrix units that do not take f32: a first pass has cut each element into three bf16 parts, and six
// of the nine products of parts are summed; the others are below f32's own rounding. Matrix units round their sums
// downwards, so every BK of depth the sums leave them and are added up in f32.
//
// A subgroup keeps WM x WN of both kinds of sums. Its fragments come straight from memory, as those of `woven`: a part
// of the next slice is on its way as soon as this slice needs its registers no longer.
//
// Infinities and NaN lie in the first parts alone, and infinity times another part of 0 is NaN: where a sum is NaN, the
// sum of the first products is the answer.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require
#extension GL_EXT_bfloat16 : require
#pragma use_vulkan_memory_model
#define UNIT_A bf16
#define UNIT_B bf16
#define PARTS 3
#include "gemm.glsl"
#include "pieces.glsl"
#include "matrix.glsl"
#include "woven.glsl"

const uint P = PIECE(UNIT_A);
const uint NI = WM / MM, NJ = WN / MN;
const uint ACROSS_A = WOVEN_STRIPE / MM * SG, ACROSS_B = WOVEN_STRIPE / MN * SG;  // pieces in a part of a slice
const uint SETS = 1, SHARES = (BM / WM) * (BN / WN), ROW_D = WN / 4 + 1;
shared uvec4 tile[COOPMAT_D(SHARES, WN, MM)];
SUMS sums[NI * NJ], now[NI * NJ];  // in all; of this step
A_MATRIX a0[NI], a1[NI], a2[NI];
B_MATRIX b0[NJ], b1[NJ], b2[NJ];

uint row0, col0, sub_row, sub_col, set;
#include "matrix_out.glsl"

#define FETCH_A(part, slice) \
    [[unroll]] for (uint i = 0; i < NI; ++i) \
        if (a##part[i].length() * SG == MM * MK) { \
            const uvec4 bits = WIDE(a, at_a + ((slice) * PARTS + part) * ACROSS_A + i * SG); \
            SPREAD(a##part[i], bits) } \
        else coopMatLoad(a##part[i], LINES(a), plain_a + ((slice) * PARTS + part) * ACROSS_A + i * SG, MK / P, ROWS);
#define FETCH_B(part, slice) \
    [[unroll]] for (uint j = 0; j < NJ; ++j) \
        if (b##part[j].length() * SG == MK * MN) { \
            const uvec4 bits = WIDE(b, at_b + ((slice) * PARTS + part) * ACROSS_B + j * SG); \
            SPREAD(b##part[j], bits) } \
        else coopMatLoad(b##part[j], LINES(b), plain_b + ((slice) * PARTS + part) * ACROSS_B + j * SG, MK / P, COLUMNS);
#define MULTIPLY(x, y) \
    [[unroll]] for (uint i = 0; i < NI; ++i) \
        [[unroll]] for (uint j = 0; j < NJ; ++j) now[i * NJ + j] = coopMatMulAdd(a##x[i], b##y[j], now[i * NJ + j]);

#define SLICE { \
    const uint s = min(first + ++t, end - 1); \
    MULTIPLY(2, 0) FETCH_A(2, s) \
    MULTIPLY(1, 1) MULTIPLY(1, 0) FETCH_A(1, s) \
    MULTIPLY(0, 2) FETCH_B(2, s) \
    MULTIPLY(0, 1) FETCH_B(1, s) \
    MULTIPLY(0, 0) FETCH_A(0, s) FETCH_B(0, s) }

void sum_up() {
    const uint slices = args.lda / MK, first = k_begin / MK, end = k_end == args.k ? slices : k_end / MK;
    const uint run = PARTS * slices;
    const uint from_a = batch * (args.batch_a / P) * PARTS + begin_of(row0 + sub_row, args.m, MM, ACROSS_A, run);
    const uint from_b = batch * (args.batch_b / P) * PARTS + begin_of(col0 + sub_col, args.n, MN, ACROSS_B, run);
    const uint at_a = from_a + gl_SubgroupInvocationID, at_b = from_b + gl_SubgroupInvocationID;
    const uint plain_a = BEGIN(a) + from_a, plain_b = BEGIN(b) + from_b;
    const uint steps = end - first;
    FETCH_A(0, first) FETCH_A(1, first) FETCH_A(2, first)
    FETCH_B(0, first) FETCH_B(1, first) FETCH_B(2, first)
    for (uint t = 0; t < steps;) {
        [[unroll]] for (uint i = 0; i < NI * NJ; ++i) now[i] = SUMS(SUM(0));
        for (uint depth = 0; depth < BK; depth += 2 * MK) { SLICE SLICE }
        [[unroll]] for (uint i = 0; i < NI * NJ; ++i) sums[i] += now[i];
    }
    bool nan = false;
    [[unroll]] for (uint i = 0; i < NI * NJ; ++i)
        for (uint e = 0; e < sums[i].length(); ++e) nan = nan || isnan(sums[i][e]);
    if (!subgroupAny(nan)) return;
    [[unroll]] for (uint i = 0; i < NI * NJ; ++i) now[i] = SUMS(SUM(0));
    for (uint s = first; s < end; ++s) { FETCH_A(0, s) FETCH_B(0, s) MULTIPLY(0, 0) }
    [[unroll]] for (uint i = 0; i < NI * NJ; ++i)
        for (uint e = 0; e < sums[i].length(); ++e) sums[i][e] = isnan(sums[i][e]) ? now[i][e] : sums[i][e];
}

void main() {
    if (!tile_of(row0, col0)) return;
    set = 0;
    sub_row = gl_SubgroupID / (BN / WN) * WM, sub_col = gl_SubgroupID % (BN / WN) * WN;
    [[unroll]] for (uint i = 0; i < NI * NJ; ++i) sums[i] = SUMS(SUM(0));
    if (k_end > k_begin) sum_up();
    store();
}
