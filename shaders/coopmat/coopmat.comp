// SPDX-License-Identifier: MIT
// Products on the matrix units (VK_KHR_cooperative_matrix). It grows from `simt`: a subgroup takes the team's place,
// and a product of MM x MN x MK by the device the place of multiply-adds.
//
//     work group BM x BN         subgroup WM x WN = (WM/MM) x (WN/MN) matrices of sums, in its registers
//     +--------+--------+        +----+----+----+----+
//     |subgroup|subgroup|        |    |    |    |    | MM
//     | WM x WN|        |        +----+----+----+----+
//     +--------+--------+   =    |    |    |    |    |       memory -> registers -> shared -> fragments -> units
//     |        |        |        +----+----+----+----+       tile t+2               tile t+1  slice s+1    slice s
//     +--------+--------+          MN
//
// A work group steps over k by BK, of which a subgroup takes 2 MK, an even and an odd slice: while the matrices of one
// slice are multiplied, the fragments of the next are read from shared memory, and the tile after next is in flight
// from memory to registers. Where BK is more than 2 MK, several subgroups share one part of D. Each of them sums its
// own slices of every step, and their sums are added when D is written. So more loads are in flight if D has few tiles.
//
// With STAGES 1, shared memory holds one tile: a step computes, waits, stores the next tile and waits. With STAGES 2 it
// holds three slices per subgroup, the even one and two odd ones that alternate, so that the next tile is stored while
// this one is computed. With STAGES 3 it holds one tile, and nothing is read ahead: registers have the fragments of one
// slice, or the next tile (sum_in_turn). With STAGES 0 there is no tile (coopmat_straight.glsl).
//
// In shared memory a k-contiguous operand is stored row by row, with its slices side by side; another one is stored k
// by k. A row is an odd number of 16-byte chunks long, so that eight neighbouring rows use eight different banks.
//
// Operands of mixed types are decoded and rounded to f16 on their way to shared memory: eight at a time, along memory.
// So rows of both operands are a multiple of eight elements.
#extension GL_GOOGLE_include_directive : require
#define VKGEMM_MATRIX_UNITS
#ifdef VARIANT_MIXED
#define UNIT_A f16
#define UNIT_B f16
#endif
#include "common/gemm.glsl"
#include "coopmat/shared_memory.h"
#ifdef VKGEMM_MIXED
#define PER_CHUNK(type) (16 / BYTES(type))
#else
#include "common/chunk16.glsl"
#endif
#include "common/matrix.glsl"

const uint PA = PER_CHUNK(UNIT_A), PB = PER_CHUNK(UNIT_B);
const bool KA = TRANS_A == 0, KB = TRANS_B != 0;                    // is the operand k-contiguous?
const uint HA = MK / PA, HB = MK / PB;                              // chunks in a row of a slice
const uint SHARES = (BM / WM) * (BN / WN), SETS = BK / (2 * MK);    // parts of D; subgroups that share a part
const uint HELD = STAGES == 2 ? 3 : 2, SLOTS = SETS * HELD;         // slices in shared memory: of a subgroup, in all
const uint ROW_A = KA ? SLOTS * HA + 1 : BM / PA + 1, ROW_B = KB ? SLOTS * HB + 1 : BN / PB + 1;
const uint SIZE_A = COOPMAT_CHUNKS(KA, BM, MK, SLOTS, PA), SIZE_B = COOPMAT_CHUNKS(KB, BN, MK, SLOTS, PB);
const uint SIZE_AB = STAGES == 0 ? COOPMAT_STRAIGHT(SETS * SHARES, MM, MK, PA) : SIZE_A + SIZE_B;
const uint ROW_D = WN / 4 + 1, SIZE_D = COOPMAT_D(SETS * SHARES, WN, MM);
shared uvec4 tile[SIZE_AB > SIZE_D ? SIZE_AB : SIZE_D];

const uint ACROSS_A = (KA ? BK : BM) / PA, ACROSS_B = (KB ? BK : BN) / PB;  // chunks in a row of the tile in memory
const uint DOWN_A = WG / ACROSS_A, DOWN_B = WG / ACROSS_B;                  // rows that the work group loads at a time
const uint LOADS_A = (KA ? BM : BK) / DOWN_A, LOADS_B = ((KB ? BN : BK) + DOWN_B - 1) / DOWN_B;
const bool FAST_A = WHOLE * (ALIGNED & WIDE_A) != 0, FAST_B = WHOLE * (ALIGNED & WIDE_B) != 0;
const uint NI = WM / MM, NJ = WN / MN;
const uint EARLY = BYTES(ACC) == 2 ? NI / 4 : 0;                    // rows multiplied while a tile is stored
const bool APART = SG < 32;                                         // products, where sums take many registers

SUMS sums[NI * NJ];
uint row0, col0, steps, phase, sub_row, sub_col, set;  // sub_: the subgroup's part of the tile; which of its sharers

#include "coopmat/coopmat_tile.glsl"

// Reads the matrix of A in row i of those that begin at at_a, and adds its products with a row of B's. These are
// macros, because a matrix that is passed to a function is copied.
#define READ_A(matrix, at_a, i)                                                   \
    if (KA) coopMatLoad(matrix, tile, at_a + i * MM * ROW_A, ROW_A, ROWS);        \
    else coopMatLoad(matrix, tile, at_a + i * MM / PA, ROW_A, COLUMNS)
#define ADD_PRODUCT(i, j, of_a, of_b) sums[i * NJ + j] = coopMatMulAdd(of_a, of_b, sums[i * NJ + j])
#define ADD_PRODUCTS(i, matrix, row_of_b) \
    [[unroll]] for (uint j = 0; j < NJ; ++j) ADD_PRODUCT(i, j, matrix, row_of_b[j])

// Fragments of the even and of the odd slice: read_even, multiply_even, sum_even, read_odd, multiply_odd, sum_odd.
#define SLICE even
#include "coopmat/coopmat_slice.glsl"
#undef SLICE
#define SLICE odd
#include "coopmat/coopmat_slice.glsl"
#undef SLICE

// For STAGES 1. Slot 0 holds the even slice, slot 1 the odd one.
void sum_one_tile() {
    for (uint t = 0; t < steps; ++t) {
        read_odd(1);
        multiply_even(0, NI);
        if (t + 1 == steps) {  // nobody waits for what was fetched past the end
            multiply_odd(0, NI);
            break;
        }
        barrier();  // every invocation has read this tile
        multiply_odd(0, EARLY);
        put(0, 1);
        barrier();  // the next tile is complete
        read_even(0);
        multiply_odd(EARLY, NI / 2);
        fetch(t + 2);  // not earlier, because loads that are all issued together wait for one another
        multiply_odd(NI / 2, NI);
    }
}

// For STAGES 3. Slots as for STAGES 1, but a subgroup holds B of one slice and a matrix of A, or a tile in flight, not
// both: other subgroups hide its loads. Slots begin at a place that the compiler does not know before the loop (t >> 31
// is 0); else it keeps the address of each load in a register.
void sum_in_turn() {
    for (uint t = 0; t < steps; ++t) {
        const uint slot = t >> 31;
        sum_even(slot);
        sum_odd(slot + 1);
        fetch(t + 1);
        barrier();  // every invocation has read this tile
        put(0, 1);
        barrier();  // the next tile is complete
    }
}

#ifndef VKGEMM_MIXED  // whose rows have STAGES 1, because each copy of their loads is code to decode all formats
// For STAGES 2. Slot 1 holds the even slice; slots 0 and 2 hold the odd slices of two tiles alternately.
void sum_ring() {
    uint t = 0;
    for (; t + 1 < steps; t += 2) {
        barrier();  // tile t is complete
        read_odd(0);
        multiply_even(0, NI);
        put(1, 2);
        barrier();  // tile t + 1 is complete
        fetch(t + 2);
        read_even(1);
        multiply_odd(0, NI);
        barrier();  // every invocation has read the even slice of tile t + 1
        read_odd(2);
        multiply_even(0, NI);
        put(1, 0);
        barrier();  // tile t + 2 is complete
        fetch(t + 3);
        read_even(1);
        multiply_odd(0, NI);
    }
    barrier();
    if (t < steps) {
        read_odd(0);
        multiply_even(0, NI);
        multiply_odd(0, NI);
    }
}
#endif

void sum_up() {
    const uint even = STAGES == 2 ? 1 : 0;
    fetch(0);
    put(even, 1 - even);
    if (STAGES == 3) {
        barrier();  // tile 0 is complete
        sum_in_turn();
        return;
    }
    fetch(1);
    barrier();  // tile 0 is complete
    read_even(even);
#ifndef VKGEMM_MIXED
    if (STAGES == 2) sum_ring();
    else
#endif
        sum_one_tile();
    barrier();  // shared memory is free again
}

#if defined(TYPE_A_IS_F16) && defined(TYPE_D_IS_F16) && defined(ACC_IS_F32)
#define HAS_STRAIGHT
#endif
#ifdef HAS_STRAIGHT
#include "coopmat/coopmat_straight.glsl"
#else
void sum_straight() {}  // no row has STAGES 0
#endif

#include "common/matrix_out.glsl"

void main() {
    if (!tile_of(row0, col0)) return;
    set = SUBGROUP / SHARES;
    sub_row = SUBGROUP % SHARES / (BN / WN) * WM;
    sub_col = SUBGROUP % (BN / WN) * WN;
    find_copies();
    steps = k_end > k_begin ? (k_end - k_begin + BK - 1) / BK : 0;
    phase = 4 * (row0 / BM) + 2 * (col0 / BN);
    [[unroll]] for (uint i = 0; i < NI * NJ; ++i) sums[i] = NO_SUMS;
    if (STAGES == 0) {
        if (HAS_WORK(steps > 0 && row0 + sub_row < args.m && col0 + sub_col < args.n)) sum_straight();
        barrier();  // every subgroup is done with its part of shared memory
    } else if (steps > 0) {
        sum_up();
    }
    store();
}
