// SPDX-License-Identifier: MIT
// What bf16x3 and f16x2 share: fragments of operands that pack_fragments has split into PARTS parts of UNIT_A, and the
// sums. A subgroup keeps WM x WN sums. Its fragments come straight from memory, as in `coopmat_packed`: while those of
// one slice are multiplied, all of the next slice are in flight to registers of their own.
//
// Matrix units round their sums downwards. Therefore, after every BK of depth, the sums are added up in f32 outside the
// units.
#ifndef VKGEMM_COOPMAT_SPLIT_GLSL
#define VKGEMM_COOPMAT_SPLIT_GLSL
#include "common/gemm.glsl"
#include "common/chunk16.glsl"
#include "common/matrix.glsl"
#include "common/fragments.glsl"

const uint P = PER_CHUNK(UNIT_A);
const uint NI = WM / MM, NJ = WN / MN;
const uint ACROSS_A = PACKED_ROW_BLOCK / MM * SG, ACROSS_B = PACKED_ROW_BLOCK / MN * SG;  // chunks in a part of a slice
const uint SETS = 1, SHARES = (BM / WM) * (BN / WN), ROW_D = WN / 4 + 1;
shared uvec4 tile[COOPMAT_D(SHARES, WN, MM)];
SUMS sums[NI * NJ], now[NI * NJ];  // the total; the sums of this step
A_MATRIX a[PARTS * NI];            // of the slice at hand, part by part
B_MATRIX b[PARTS * NJ];

uint row0, col0, sub_row, sub_col, set;
uint from_a, from_b;  // where this subgroup's fragments of the first slice begin in the workspace, in chunks
#include "common/fragments_fill.glsl"

#define EACH(x, count) [[unroll]] for (uint x = 0; x < count; ++x)

// Where the i-th fragment of a part of a slice is, in chunks.
uint place_of(uint slice, uint part, uint across, uint i) { return (slice * PARTS + part) * across + i * SG; }

// What is loaded of a slice. There are two of them: while one slice is multiplied, the other one is on its way. fetch_x
// loads all parts, and take_x makes fragments of them by fill_a and fill_b. If these read whole fragments instead, the
// compiler removes the loads.
#define SLICE(x)                                                                                       \
    uvec4 x##_a[PARTS * NI], x##_b[PARTS * NJ];                                                        \
    void fetch_##x(uint slice) {                                                                       \
        const uint at_a = from_a + gl_SubgroupInvocationID, at_b = from_b + gl_SubgroupInvocationID;   \
        EACH(p, PARTS) {                                                                               \
            EACH(i, NI) x##_a[p * NI + i] = CHUNK(a, at_a + place_of(slice, p, ACROSS_A, i));          \
            EACH(j, NJ) x##_b[p * NJ + j] = CHUNK(b, at_b + place_of(slice, p, ACROSS_B, j));          \
        }                                                                                              \
    }                                                                                                  \
    void take_##x(uint slice) {                                                                        \
        const uint at_a = FIRST_CHUNK(a) + from_a, at_b = FIRST_CHUNK(b) + from_b;                     \
        EACH(p, PARTS) {                                                                               \
            EACH(i, NI)                                                                                \
                fill_a(p * NI + i, 0, x##_a[p * NI + i], at_a + place_of(slice, p, ACROSS_A, i));      \
            EACH(j, NJ)                                                                                \
                fill_b(p * NJ + j, 0, x##_b[p * NJ + j], at_b + place_of(slice, p, ACROSS_B, j));      \
        }                                                                                              \
    }
SLICE(even)
SLICE(odd)

// Adds the products of part x of A and part y of B.
void multiply(uint x, uint y) {
    EACH(i, NI) EACH(j, NJ) now[i * NJ + j] = coopMatMulAdd(a[x * NI + i], b[y * NJ + j], now[i * NJ + j]);
}

void clear_now() { EACH(i, NI * NJ) now[i] = SUMS(SUM(0)); }

bool is_finite(SUM x) { return !isnan(x) && !isinf(x); }

// Is a sum of this subgroup not finite? Here and elsewhere, only plain loops over all elements index them, because a
// compiler that cannot resolve an index keeps the sums in memory, which halves the speed.
bool any_not_finite() {
    bool wrong = false;
    EACH(i, NI * NJ) EACH(e, sums[i].length()) wrong = wrong || !is_finite(sums[i][e]);
    return subgroupAny(wrong);
}

// Sums the products of first parts alone, into `now`. Infinities and NaN are in the first parts, and infinity times
// another part that is 0 is NaN. So if a sum is not finite, this one decides what it is.
void sum_first_parts(uint first, uint end) {
    clear_now();
    for (uint s = first; s < end; ++s) {
        fetch_even(s);
        take_even(s);
        multiply(0, 0);
    }
}

// Returns the work group's first slice and the one after its last. Sets from_a and from_b.
uvec2 find_slices() {
    const uint slices = args.lda / MK, first = k_begin / MK, end = k_end == args.k ? slices : k_end / MK;
    const uint run = PARTS * slices;
    from_a = batch * (args.batch_a / P) * PARTS + begin_of(row0 + sub_row, args.m, PACKED_ROW_BLOCK, ACROSS_A, run);
    from_b = batch * (args.batch_b / P) * PARTS + begin_of(col0 + sub_col, args.n, PACKED_ROW_BLOCK, ACROSS_B, run);
    return uvec2(first, end);
}

// Finds this work group's tile and clears the sums. Returns false past the last tile.
bool begin_tile() {
    if (!tile_of(row0, col0)) return false;
    set = 0;
    sub_row = gl_SubgroupID / (BN / WN) * WM;
    sub_col = gl_SubgroupID % (BN / WN) * WN;
    EACH(i, NI * NJ) sums[i] = SUMS(SUM(0));
    return true;
}

#endif
