// SPDX-License-Identifier: MIT
// Products on the matrix units (VK_KHR_cooperative_matrix). A subgroup keeps WM x WN sums as WM/MM x WN/MN matrices.
// A work group steps over k by BK, of which a subgroup takes 2 MK, two slices: while the matrices of one slice are
// multiplied, the fragments of the next are read from shared memory, and the tile after next is on its way from memory
// to registers. Where BK is more than 2 MK, several subgroups share one part of D, each sums its own slices of every
// step, and their sums meet on the way out: more loads in flight where D has few tiles.
//
// STAGES 1: shared memory holds one tile: compute, barrier, store the next tile, barrier. 2: it holds three slices a
// subgroup, the even one and two odd ones in turn, so that the next tile is stored while this one is computed.
//
// In shared memory an operand whose fast index in memory is k lies row by row, its slices side by side; another lies k
// by k. A row is an odd number of 16-byte pieces long: eight neighbouring rows meet eight different banks.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#extension GL_EXT_bfloat16 : require
#pragma use_vulkan_memory_model
#include "gemm.glsl"
#include "chunk16.glsl"
#include "matrix.glsl"

const uint PA = PIECE(TYPE_A), PB = PIECE(TYPE_B);
const bool KA = TRANS_A == 0, KB = TRANS_B != 0;                    // is k the fast index in memory?
const uint HA = MK / PA, HB = MK / PB;                              // pieces in a row of a slice
const uint SHARES = (BM / WM) * (BN / WN), SETS = BK / (2 * MK);     // of D; subgroups that share a part
const uint HELD = STAGES + 1, SLOTS = SETS * HELD;                  // slices in shared memory: of a subgroup, in all
const uint ROW_A = KA ? SLOTS * HA + 1 : BM / PA + 1, ROW_B = KB ? SLOTS * HB + 1 : BN / PB + 1;
const uint SIZE_A = COOPMAT_PIECES(KA, BM, MK, SLOTS, PA), SIZE_B = COOPMAT_PIECES(KB, BN, MK, SLOTS, PB);
const uint ROW_D = WN / 4 + 1, SIZE_D = COOPMAT_D(SETS * SHARES, WN, MM);
shared uvec4 tile[SIZE_A + SIZE_B > SIZE_D ? SIZE_A + SIZE_B : SIZE_D];

const uint ACROSS_A = (KA ? BK : BM) / PA, ACROSS_B = (KB ? BK : BN) / PB;  // pieces in a row of the tile in memory
const uint DOWN_A = WG / ACROSS_A, DOWN_B = WG / ACROSS_B;                  // rows that the work group loads at a time
const uint LOADS_A = (KA ? BM : BK) / DOWN_A, LOADS_B = (KB ? BN : BK) / DOWN_B;
const bool FAST_A = WHOLE * (ALIGNED & WIDE_A) != 0, FAST_B = WHOLE * (ALIGNED & WIDE_B) != 0;
const uint NI = WM / MM, NJ = WN / MN;
const uint EARLY = BYTES(ACC) == 2 ? NI / 4 : 0;                    // rows multiplied while a tile is stored
const uint WINDOW = 32;

SUMS sums[NI * NJ];
A_MATRIX a0[NI], a1[NI];  // fragments: even slice, odd slice
B_MATRIX b0[NJ], b1[NJ];
uvec4 next_a[LOADS_A], next_b[LOADS_B], more_a[LOADS_A], more_b[LOADS_B];  // the tile in flight, see chunk16.glsl
uint k_next;                                                               // and its place on k

uint row0, col0, steps, phase, sub_row, sub_col, set;     // sub_: the subgroup's part of the tile; which of its sharers
uint down_a, down_b, place_a, place_b;                    // what this invocation copies: first row, place in that row,
uint base_a, base_b, put_a, put_b;                        // index in memory, index in shared memory

#include "coopmat_tile.glsl"

// Macros, because arrays whose size is a specialization constant cannot be passed.
#define FRAGMENTS(parity, slot) {                                                                          \
    const uint at_a = slot_a(set * HELD + (slot)) + (KA ? sub_row * ROW_A : sub_row / PA);                 \
    const uint at_b = slot_b(set * HELD + (slot)) + (KB ? sub_col * ROW_B : sub_col / PB);                 \
    [[unroll]] for (uint j = 0; j < NJ; ++j)                                                               \
        if (KB) coopMatLoad(b##parity[j], tile, at_b + j * MN * ROW_B, ROW_B, COLUMNS);                    \
        else coopMatLoad(b##parity[j], tile, at_b + j * MN / PB, ROW_B, ROWS);                             \
    [[unroll]] for (uint i = 0; i < NI; ++i)                                                               \
        if (KA) coopMatLoad(a##parity[i], tile, at_a + i * MM * ROW_A, ROW_A, ROWS);                       \
        else coopMatLoad(a##parity[i], tile, at_a + i * MM / PA, ROW_A, COLUMNS); }
#define MULTIPLY(parity, from, to)                                                                         \
    [[unroll]] for (uint i = from; i < to; ++i)                                                            \
        [[unroll]] for (uint j = 0; j < NJ; ++j)                                                           \
            sums[i * NJ + j] = coopMatMulAdd(a##parity[i], b##parity[j], sums[i * NJ + j]);
#define RING_STEP(odd, next_odd, t)                                                                        \
    barrier(); FRAGMENTS(1, odd) MULTIPLY(0, 0, NI) put(1, next_odd);                                      \
    barrier(); fetch(t); FRAGMENTS(0, 1) MULTIPLY(1, 0, NI)

void sum_up() {
    const uint even = STAGES - 1;
    fetch(0);
    put(even, 1 - even);
    fetch(1);
    barrier();
    FRAGMENTS(0, even)
    uint t = 0;
    if (STAGES == 1) {
        for (; t < steps; ++t) {
            FRAGMENTS(1, 1) MULTIPLY(0, 0, NI)
            barrier();  // everyone has read this tile
            MULTIPLY(1, 0, EARLY)
            put(0, 1);
            barrier();
            FRAGMENTS(0, 0) MULTIPLY(1, EARLY, NI / 2)
            fetch(t + 2);  // not at once: loads that all come together wait for one another
            MULTIPLY(1, NI / 2, NI)
        }
    } else {
        for (; t + 1 < steps; t += 2) { RING_STEP(0, 2, t + 2) RING_STEP(2, 0, t + 3) }
        barrier();
        if (t < steps) { FRAGMENTS(1, 0) MULTIPLY(0, 0, NI) MULTIPLY(1, 0, NI) }
    }
    barrier();  // shared memory is free again
}

#include "matrix_out.glsl"

void main() {
    if (!tile_of(row0, col0)) return;
    const uint tid = gl_LocalInvocationIndex;
    set = gl_SubgroupID / SHARES;
    sub_row = gl_SubgroupID % SHARES / (BN / WN) * WM, sub_col = gl_SubgroupID % (BN / WN) * WN;
    down_a = KA ? shuffled(tid / ACROSS_A, ACROSS_A, DOWN_A) : tid / ACROSS_A, place_a = tid % ACROSS_A * PA;
    down_b = KB ? shuffled(tid / ACROSS_B, ACROSS_B, DOWN_B) : tid / ACROSS_B, place_b = tid % ACROSS_B * PB;
    put_a = (KA ? down_a : down_a % MK) * ROW_A + (KA ? place_a % MK : place_a) / PA;
    put_b = (KB ? down_b : down_b % MK) * ROW_B + (KB ? place_b % MK : place_b) / PB;
    base_a = batch * args.batch_a;
    base_a = (base_a + (KA ? (row0 + down_a) * args.lda + place_a : down_a * args.lda + row0 + place_a)) / PA;
    base_b = batch * args.batch_b;
    base_b = (base_b + (KB ? (col0 + down_b) * args.ldb + place_b : down_b * args.ldb + col0 + place_b)) / PB;
    steps = k_end > k_begin ? (k_end - k_begin + BK - 1) / BK : 0;
    phase = 4 * (row0 / BM) + 2 * (col0 / BN);
    [[unroll]] for (uint i = 0; i < NI * NJ; ++i) sums[i] = SUMS(SUM(0));
    if (steps > 0) sum_up();
    store();
}
