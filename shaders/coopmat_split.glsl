// SPDX-License-Identifier: MIT
// f32 products on matrix units that do not take f32: a first pass has cut each element into PARTS parts of UNIT_A, and
// the products of parts that matter are summed; the others come to less than f32's own rounding. Matrix units round
// their sums downwards, so every BK of depth the sums leave them and are added up in f32.
//
// Of three parts the second are kept 2^8 times too large, the third 2^16 times (see split_f32.glsl), so their products
// have sums of their own, which come to the others at the end, brought down. What the units round away of them is small
// then, too: they need not leave them before.
//
// A subgroup keeps WM x WN of every kind of sums. Its fragments come straight from memory, as those of `coopmat_packed`: all of
// the next slice are on their way, to registers of their own, while those of this one are multiplied.
#ifndef VKGEMM_PARTS_GLSL
#define VKGEMM_PARTS_GLSL
#include "gemm.glsl"
#include "chunk16.glsl"
#include "matrix.glsl"
#include "coopmat_packed.glsl"

const uint P = PIECE(UNIT_A);
const uint NI = WM / MM, NJ = WN / MN;
const uint ACROSS_A = PACKED_ROW_BLOCK / MM * SG, ACROSS_B = PACKED_ROW_BLOCK / MN * SG;  // pieces in a part of a slice
const uint SETS = 1, SHARES = (BM / WM) * (BN / WN), ROW_D = WN / 4 + 1;
shared uvec4 tile[COOPMAT_D(SHARES, WN, MM)];
SUMS sums[NI * NJ], now[NI * NJ];        // in all; of this step
#if PARTS == 3
SUMS small[NI * NJ], smallest[NI * NJ];  // 2^8 and 2^16 times too large
#endif
A_MATRIX a[PARTS * NI];                  // of the slice at hand, part by part
B_MATRIX b[PARTS * NJ];
uvec4 even_a[PARTS * NI], even_b[PARTS * NJ], odd_a[PARTS * NI], odd_b[PARTS * NJ];  // as they come from memory

uint row0, col0, sub_row, sub_col, set;
uint at_a, at_b, plain_a, plain_b;  // in the workspace: this invocation's part of the first fragment; its beginning

#ifdef SCALED
// Takes back the factors of a row and of four columns, in two steps, for a power of two may be too large for one.
vec4 unscaled(vec4 sum, uint row, uint col) {
    if (args.k == 0) return sum;  // then there has been no first pass
    const uint r = min(row, args.m - 1), c = min(col, args.n - 1) / 4;  // what lies outside is not stored
    const uint of_a = factors_of(args.m, args.lda, args.batch_a != 0 ? args.batch : 1, PARTS);
    const uint of_b = factors_of(args.n, args.ldb, args.batch_b != 0 ? args.batch : 1, PARTS);
    const uint first_a = args.batch_a != 0 ? batch * whole_row_blocks(args.m) : 0;
    const uint first_b = args.batch_b != 0 ? batch * whole_row_blocks(args.n) : 0;
    const uvec4 rows = WIDE(a, of_a + (first_a + r) / 4);
    const ivec4 up = ivec4(WIDE(b, of_b + first_b / 4 + c)) + int(rows[r % 4]);
    precise vec4 half_way = sum * uintBitsToFloat(uvec4((up >> 1) + 127) << 23);
    return half_way * uintBitsToFloat(uvec4(up - (up >> 1) + 127) << 23);
}
#define FINAL(sum, row, col) unscaled(sum, row, col)
#endif
#include "matrix_out.glsl"

#define ON(slice, part, across, i) (((slice) * PARTS + part) * across + (i) * SG)
#define EACH(x, count) [[unroll]] for (uint x = 0; x < count; ++x)
#define FETCH(to, slice) /* where TAKE takes it; else nobody reads it, and it is left out */ \
    EACH(p, PARTS) { \
        EACH(i, NI) to##_a[p * NI + i] = WIDE(a, at_a + ON(slice, p, ACROSS_A, i)); \
        EACH(j, NJ) to##_b[p * NJ + j] = WIDE(b, at_b + ON(slice, p, ACROSS_B, j)); }
#define TAKE(from, slice) \
    EACH(p, PARTS) { \
        EACH(i, NI) \
            if (a[p * NI + i].length() * SG == MM * MK) { SPREAD(a[p * NI + i], from##_a[p * NI + i]) } \
            else coopMatLoad(a[p * NI + i], LINES(a), plain_a + ON(slice, p, ACROSS_A, i), MK / P, ROWS); \
        EACH(j, NJ) \
            if (b[p * NJ + j].length() * SG == MK * MN) { SPREAD(b[p * NJ + j], from##_b[p * NJ + j]) } \
            else coopMatLoad(b[p * NJ + j], LINES(b), plain_b + ON(slice, p, ACROSS_B, j), MK / P, COLUMNS); }
#define MULTIPLY(x, y, to) \
    EACH(i, NI) EACH(j, NJ) to[i * NJ + j] = coopMatMulAdd(a[x * NI + i], b[y * NJ + j], to[i * NJ + j]);

#if PARTS == 3  // six of nine products
#define MULTIPLY_ALL \
    MULTIPLY(0, 2, smallest) MULTIPLY(1, 1, smallest) MULTIPLY(2, 0, smallest) \
    MULTIPLY(0, 1, small) MULTIPLY(1, 0, small) MULTIPLY(0, 0, now)
#else  // three of four, the small ones first: a large sum has no room for all their digits
#define MULTIPLY_ALL MULTIPLY(0, 1, now) MULTIPLY(1, 0, now) MULTIPLY(0, 0, now)
#endif

// Writes `of` in place of each element of the sums that is not finite. Elements are named in plain loops over all of
// them alone: a compiler that does not see through an index keeps the sums in memory, at half of the speed.
bool is_finite(SUM x) { return !isnan(x) && !isinf(x); }
#define MEND(of) \
    EACH(i, NI * NJ) EACH(e, sums[i].length()) sums[i][e] = is_finite(sums[i][e]) ? sums[i][e] : of;

#if PARTS == 3
uvec4 lowered(uvec4 x, uint by) {  // two bf16 in each word
    const uvec4 least = uvec4(by << 7), low = x & 0xffffu, high = x >> 16;
    return mix(uvec4(0), low - least, greaterThan(low & 0x7fffu, least)) |
           mix(uvec4(0), high - least, greaterThan(high & 0x7fffu, least)) << 16;
}
#define LOWER(m, size, by) \
    if (m.length() * SG == size) { \
        const uvec4 bits = lowered(BITS_OF(m), by); \
        SPREAD(m, bits) } \
    else for (uint e = 0; e < m.length(); ++e) \
        m[e] = uintBitsToBFloat16EXT(uint16_t(lowered(uvec4(bfloat16BitsToUintEXT(m[e])), by).x));

// Only products of parts that are too large have left f32's range: the sum of parts of their true size, in `small`.
void sum_lowered(uint first, uint end) {
    EACH(i, NI * NJ) small[i] = SUMS(SUM(0));
    for (uint s = first; s < end; ++s) {
        FETCH(even, s)
        TAKE(even, s)
        EACH(i, NI) { LOWER(a[NI + i], MM * MK, 8) LOWER(a[2 * NI + i], MM * MK, 16) }
        EACH(j, NJ) { LOWER(b[NJ + j], MK * MN, 8) LOWER(b[2 * NJ + j], MK * MN, 16) }
        EACH(i, NI * NJ) now[i] = SUMS(SUM(0));
        MULTIPLY(0, 2, now) MULTIPLY(1, 1, now) MULTIPLY(2, 0, now)
        MULTIPLY(0, 1, now) MULTIPLY(1, 0, now) MULTIPLY(0, 0, now)
        EACH(i, NI * NJ) small[i] += now[i];
    }
}
#endif

// Infinities and NaN lie in the first parts alone, and infinity times another part of 0 is NaN: where a sum is not
// finite, the sum of the first products tells what it is, if that is not finite either.
void mend(uint first, uint end) {
    bool wrong = false;
    EACH(i, NI * NJ) EACH(e, sums[i].length()) wrong = wrong || !is_finite(sums[i][e]);
    if (!subgroupAny(wrong)) return;
    EACH(i, NI * NJ) now[i] = SUMS(SUM(0));
    for (uint s = first; s < end; ++s) { FETCH(even, s) TAKE(even, s) MULTIPLY(0, 0, now) }
#if PARTS == 3
    const SUM infinity = uintBitsToFloat(0x7f800000u);
    MEND(is_finite(now[i][e]) ? infinity : now[i][e])
    sum_lowered(first, end);
    MEND(isnan(small[i][e]) ? sums[i][e] : small[i][e])
#else
    MEND(now[i][e])
#endif
}

void sum_up() {
    const uint slices = args.lda / MK, first = k_begin / MK, end = k_end == args.k ? slices : k_end / MK;
    const uint run = PARTS * slices;
    const uint from_a = batch * (args.batch_a / P) * PARTS + begin_of(row0 + sub_row, args.m, MM, ACROSS_A, run);
    const uint from_b = batch * (args.batch_b / P) * PARTS + begin_of(col0 + sub_col, args.n, MN, ACROSS_B, run);
    at_a = from_a + gl_SubgroupInvocationID, at_b = from_b + gl_SubgroupInvocationID;
    plain_a = BEGIN(a) + from_a, plain_b = BEGIN(b) + from_b;
    FETCH(even, first)
#if PARTS == 3
    EACH(i, NI * NJ) small[i] = smallest[i] = SUMS(SUM(0));
#endif
    for (uint s = first; s < end;) {  // whole steps: the workspace is filled up to them with zeros
        EACH(i, NI * NJ) now[i] = SUMS(SUM(0));
        [[unroll]] for (uint depth = 0; depth < BK; depth += 2 * MK, s += 2) {
            FETCH(odd, s + 1) TAKE(even, s) MULTIPLY_ALL
            FETCH(even, min(s + 2, end - 1)) TAKE(odd, s + 1) MULTIPLY_ALL
        }
        EACH(i, NI * NJ) sums[i] += now[i];
    }
#if PARTS == 3
    EACH(i, NI * NJ) sums[i] += (smallest[i] * SUM(1.0 / 256) + small[i]) * SUM(1.0 / 256);
#endif
    mend(first, end);
}

void main() {
    if (!tile_of(row0, col0)) return;
    set = 0;
    sub_row = gl_SubgroupID / (BN / WN) * WM, sub_col = gl_SubgroupID % (BN / WN) * WN;
    EACH(i, NI * NJ) sums[i] = SUMS(SUM(0));
    if (k_end > k_begin) sum_up();
    store();
}

#endif
