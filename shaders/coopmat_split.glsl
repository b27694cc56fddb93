// SPDX-License-Identifier: MIT
// What bf16x3 and f16x2 share: fragments of operands that pack_fragments has split into PARTS parts of UNIT_A, the
// sums, and how they leave. A subgroup keeps WM x WN sums. Its fragments come straight from memory, as those of
// `coopmat_packed`: all of the next slice are in flight, to registers of their own, while those of this one are
// multiplied.
//
// Matrix units round their sums downwards, so every BK of depth the sums leave them and are added up in f32.
#ifndef VKGEMM_COOPMAT_SPLIT_GLSL
#define VKGEMM_COOPMAT_SPLIT_GLSL
#include "gemm.glsl"
#include "chunk16.glsl"
#include "matrix.glsl"
#include "coopmat_packed.glsl"

const uint P = PER_CHUNK(UNIT_A);
const uint NI = WM / MM, NJ = WN / MN;
const uint ACROSS_A = PACKED_ROW_BLOCK / MM * SG, ACROSS_B = PACKED_ROW_BLOCK / MN * SG;  // chunks in a part of a slice
const uint SETS = 1, SHARES = (BM / WM) * (BN / WN), ROW_D = WN / 4 + 1;
shared uvec4 tile[COOPMAT_D(SHARES, WN, MM)];
SUMS sums[NI * NJ], now[NI * NJ];  // in all; of this step
A_MATRIX a[PARTS * NI];            // of the slice at hand, part by part
B_MATRIX b[PARTS * NJ];
uvec4 even_a[PARTS * NI], even_b[PARTS * NJ], odd_a[PARTS * NI], odd_b[PARTS * NJ];  // as they come from memory

uint row0, col0, sub_row, sub_col, set;
uint from_a, from_b;  // where this subgroup's fragments of the first slice begin in the workspace, in chunks
#include "coopmat_packed_fill.glsl"

#define EACH(x, count) [[unroll]] for (uint x = 0; x < count; ++x)

// Where the i-th fragment of a part of a slice is, in chunks.
uint place_of(uint slice, uint part, uint across, uint i) { return (slice * PARTS + part) * across + i * SG; }

// Loads all parts of a slice, where fill_a and fill_b take them; else nobody reads them, and they are left out.
void fetch_even(uint slice) {
    EACH(p, PARTS) {
        EACH(i, NI) even_a[p * NI + i] = CHUNK(a, from_a + gl_SubgroupInvocationID + place_of(slice, p, ACROSS_A, i));
        EACH(j, NJ) even_b[p * NJ + j] = CHUNK(b, from_b + gl_SubgroupInvocationID + place_of(slice, p, ACROSS_B, j));
    }
}
void fetch_odd(uint slice) {
    EACH(p, PARTS) {
        EACH(i, NI) odd_a[p * NI + i] = CHUNK(a, from_a + gl_SubgroupInvocationID + place_of(slice, p, ACROSS_A, i));
        EACH(j, NJ) odd_b[p * NJ + j] = CHUNK(b, from_b + gl_SubgroupInvocationID + place_of(slice, p, ACROSS_B, j));
    }
}

// Makes fragments of what has been loaded.
void take_even(uint slice) {
    EACH(p, PARTS) {
        EACH(i, NI) fill_a(p * NI + i, even_a[p * NI + i],
                        FIRST_CHUNK(a) + from_a + place_of(slice, p, ACROSS_A, i));
        EACH(j, NJ) fill_b(p * NJ + j, even_b[p * NJ + j],
                        FIRST_CHUNK(b) + from_b + place_of(slice, p, ACROSS_B, j));
    }
}
void take_odd(uint slice) {
    EACH(p, PARTS) {
        EACH(i, NI) fill_a(p * NI + i, odd_a[p * NI + i],
                        FIRST_CHUNK(a) + from_a + place_of(slice, p, ACROSS_A, i));
        EACH(j, NJ) fill_b(p * NJ + j, odd_b[p * NJ + j],
                        FIRST_CHUNK(b) + from_b + place_of(slice, p, ACROSS_B, j));
    }
}

// Adds the products of part x of A and part y of B.
void multiply(uint x, uint y) {
    EACH(i, NI) EACH(j, NJ) now[i * NJ + j] = coopMatMulAdd(a[x * NI + i], b[y * NJ + j], now[i * NJ + j]);
}

void clear_now() { EACH(i, NI * NJ) now[i] = SUMS(SUM(0)); }

bool is_finite(SUM x) { return !isnan(x) && !isinf(x); }

// Is a sum of this subgroup not finite? Elements are named in plain loops over all of them alone, here and elsewhere: a
// compiler that does not see through an index keeps the sums in memory, at half of the speed.
bool any_not_finite() {
    bool wrong = false;
    EACH(i, NI * NJ) EACH(e, sums[i].length()) wrong = wrong || !is_finite(sums[i][e]);
    return subgroupAny(wrong);
}

// Sums the products of first parts alone. Infinities and NaN are in the first parts, and infinity times another part
// of 0 is NaN: where a sum is not finite, this one decides what it is.
void sum_first_parts(uint first, uint end) {
    clear_now();
    for (uint s = first; s < end; ++s) {
        fetch_even(s);
        take_even(s);
        multiply(0, 0);
    }
}

// The slices of this work group: first and end. Also finds where its fragments are.
uvec2 find_slices() {
    const uint slices = args.lda / MK, first = k_begin / MK, end = k_end == args.k ? slices : k_end / MK;
    const uint run = PARTS * slices;
    from_a = batch * (args.batch_a / P) * PARTS + begin_of(row0 + sub_row, args.m, MM, ACROSS_A, run);
    from_b = batch * (args.batch_b / P) * PARTS + begin_of(col0 + sub_col, args.n, MN, ACROSS_B, run);
    return uvec2(first, end);
}

// Finds this work group's tile and clears the sums. False past the last.
bool begin_tile() {
    if (!tile_of(row0, col0)) return false;
    set = 0;
    sub_row = gl_SubgroupID / (BN / WN) * WM, sub_col = gl_SubgroupID % (BN / WN) * WN;
    EACH(i, NI * NJ) sums[i] = SUMS(SUM(0));
    return true;
}

#endif
