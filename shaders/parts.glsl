// SPDX-License-Identifier: MIT
// f32 products on matrix units that do not take f32: a first pass has cut each element into PARTS parts of UNIT_A, and
// the products of parts that matter are summed; the others are below f32's own rounding. Matrix units round their sums
// downwards, so every BK of depth the sums leave them and are added up in f32.
//
// A subgroup keeps WM x WN of both kinds of sums. Its fragments come straight from memory, as those of `woven`: a part
// of the next slice is on its way as soon as this slice needs its registers no longer.
//
// Infinities and NaN lie in the first parts alone, and infinity times another part of 0 is NaN: where a sum is NaN, the
// sum of the first products is the answer.
#ifndef VKGEMM_PARTS_GLSL
#define VKGEMM_PARTS_GLSL
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

#ifdef SCALED
// Takes back the factors of a row and of four columns, in two steps, for a power of two may be too large for one.
vec4 unscaled(vec4 sum, uint row, uint col) {
    if (args.k == 0) return sum;  // then there has been no first pass
    const uint r = min(row, args.m - 1), c = min(col, args.n - 1) / 4;  // what lies outside is not stored
    const uint of_a = factors_of(args.m, args.lda, args.batch_a != 0 ? args.batch : 1, PARTS);
    const uint of_b = factors_of(args.n, args.ldb, args.batch_b != 0 ? args.batch : 1, PARTS);
    const uint first_a = args.batch_a != 0 ? batch * whole_stripes(args.m) : 0;
    const uint first_b = args.batch_b != 0 ? batch * whole_stripes(args.n) : 0;
    const uvec4 rows = WIDE(a, of_a + (first_a + r) / 4);
    const ivec4 up = ivec4(WIDE(b, of_b + first_b / 4 + c)) + int(rows[r % 4]);
    precise vec4 half_way = sum * uintBitsToFloat(uvec4((up >> 1) + 127) << 23);
    return half_way * uintBitsToFloat(uvec4(up - (up >> 1) + 127) << 23);
}
#define FINAL(sum, row, col) unscaled(sum, row, col)
#endif
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

#define NEXT const uint s = min(first + ++t, end - 1);
#if PARTS == 3  // six of nine products
#define FETCH_REST(slice) FETCH_A(1, slice) FETCH_A(2, slice) FETCH_B(1, slice) FETCH_B(2, slice)
#define SLICE { NEXT \
    MULTIPLY(2, 0) FETCH_A(2, s) \
    MULTIPLY(1, 1) MULTIPLY(1, 0) FETCH_A(1, s) \
    MULTIPLY(0, 2) FETCH_B(2, s) \
    MULTIPLY(0, 1) FETCH_B(1, s) \
    MULTIPLY(0, 0) FETCH_A(0, s) FETCH_B(0, s) }
#else  // three of four
#define FETCH_REST(slice) FETCH_A(1, slice) FETCH_B(1, slice)
#define SLICE { NEXT \
    MULTIPLY(1, 0) FETCH_A(1, s) \
    MULTIPLY(0, 1) FETCH_B(1, s) \
    MULTIPLY(0, 0) FETCH_A(0, s) FETCH_B(0, s) }
#endif

void sum_up() {
    const uint slices = args.lda / MK, first = k_begin / MK, end = k_end == args.k ? slices : k_end / MK;
    const uint run = PARTS * slices;
    const uint from_a = batch * (args.batch_a / P) * PARTS + begin_of(row0 + sub_row, args.m, MM, ACROSS_A, run);
    const uint from_b = batch * (args.batch_b / P) * PARTS + begin_of(col0 + sub_col, args.n, MN, ACROSS_B, run);
    const uint at_a = from_a + gl_SubgroupInvocationID, at_b = from_b + gl_SubgroupInvocationID;
    const uint plain_a = BEGIN(a) + from_a, plain_b = BEGIN(b) + from_b;
    const uint steps = end - first;
    FETCH_A(0, first) FETCH_B(0, first) FETCH_REST(first)
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

#endif
