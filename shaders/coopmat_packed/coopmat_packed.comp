// SPDX-License-Identifier: MIT
// Products on the matrix units whose operands `pack_fragments` has put into the order of the registers. It grows from
// `coopmat`, and needs neither its shared memory nor the barriers in its loop.
//
//     work group BM x BN         subgroup WM x WN            a fragment, MM x MK of A, in the workspace
//     +--------+--------+        +----+----+----+----+       +--------------+---+---+-----+--------+
//     |subgroup|subgroup|        |    |    |    |    | MM    | invocation 0 | 1 | 2 | ... | SG - 1 |
//     +--------+--------+   =    +----+----+----+----+       +--------------+---+---+-----+--------+
//     |        |        |        |    |    |    |    |         16 bytes each: one read fills the registers (if an
//     +--------+--------+        +----+----+----+----+         invocation holds more, such runs follow)
//
// A subgroup keeps WM x WN sums and reads its fragments straight from memory, one slice of k ahead. The subgroups of a
// multiprocessor are at different places, and so hide each other's latency; what neighbours read at nearly the same
// time comes from the first-level cache.
//
// With STAGES 3 nothing is read ahead: a device with few registers runs more subgroups instead.
//
// Where BK is more than 2 MK, several subgroups share one part of D. They take pairs of slices in turn, and their sums
// are added when D is written, as in `coopmat`. So more loads are in flight if D has few tiles.
#extension GL_GOOGLE_include_directive : require
#define VKGEMM_MATRIX_UNITS
#include "common/gemm.glsl"
#include "common/chunk16.glsl"
#include "common/matrix.glsl"
#include "common/fragments.glsl"

const uint PA = PER_CHUNK(TYPE_A), PB = PER_CHUNK(TYPE_B);
const uint NI = WM / MM, NJ = WN / MN;
const uint ROW_BLOCK_A = ROW_BLOCK_OF(WM), ROW_BLOCK_B = ROW_BLOCK_OF(WN);
const uint ACROSS_A = ROW_BLOCK_A * MK / PA, ACROSS_B = ROW_BLOCK_B * MK / PB;  // chunks in a slice
const uint SHARES = (BM / WM) * (BN / WN), SETS = BK / (2 * MK);  // parts of D; subgroups that share a part
const uint ROW_D = WN / 4 + 1;
const uint CA = MM * MK / (SG * PA), CB = MK * MN / (SG * PB);  // of a fragment, in an invocation
shared uvec4 tile[COOPMAT_D(SETS * SHARES, WN, MM)];
SUMS sums[NI * NJ];
A_MATRIX a[NI];  // fragments of the slice at hand
B_MATRIX b[NJ];

uint row0, col0, sub_row, sub_col, set;
#include "common/matrix_out.glsl"
#include "common/fragments_fill.glsl"

void multiply() {
    [[unroll]] for (uint i = 0; i < NI; ++i)
        [[unroll]] for (uint j = 0; j < NJ; ++j) sums[i * NJ + j] = coopMatMulAdd(a[i], b[j], sums[i * NJ + j]);
}

// What is loaded of a slice. There are two of them: while one slice is multiplied, the other one is on its way. fetch_x
// loads this invocation's part of the fragments, which begins at these chunks. multiply_x makes fragments of it by
// fill_a and fill_b; begin_a and begin_b are the places of the slice in the arrays CHUNKS. If these functions read
// whole fragments instead, the compiler removes the loads.
#define SLICE(x)                                                                          \
    uvec4 x##_a[NI * CA], x##_b[NJ * CB];                                                 \
    void fetch_##x(uint at_a, uint at_b) {                                                \
        [[unroll]] for (uint i = 0; i < NI * CA; ++i) x##_a[i] = CHUNK(a, at_a + i * SG); \
        [[unroll]] for (uint j = 0; j < NJ * CB; ++j) x##_b[j] = CHUNK(b, at_b + j * SG); \
    }                                                                                     \
    void multiply_##x(uint begin_a, uint begin_b) {                                       \
        [[unroll]] for (uint i = 0; i < NI; ++i)                                          \
            [[unroll]] for (uint c = 0; c < CA; ++c)                                      \
                fill_a(i, c, x##_a[i * CA + c], begin_a + i * CA * SG);                   \
        [[unroll]] for (uint j = 0; j < NJ; ++j)                                          \
            [[unroll]] for (uint c = 0; c < CB; ++c)                                      \
                fill_b(j, c, x##_b[j * CB + c], begin_b + j * CB * SG);                   \
        multiply();                                                                       \
    }
SLICE(even)
SLICE(odd)

// Multiplies the slice whose fragments begin at these places in the arrays CHUNKS. Each product is a block of its own:
// then a compiler adds it to the sums before it begins the next one, and does not hold all sums twice.
void take(uint begin_a, uint begin_b) {
    [[unroll]] for (uint i = 0; i < NI; ++i)
        [[unroll]] for (uint c = 0; c < CA; ++c)
            fill_a(i, c, CHUNKS(a)[begin_a + (i * CA + c) * SG + LANE], begin_a + i * CA * SG);
    [[unroll]] for (uint j = 0; j < NJ; ++j) {
        if (col0 + j * MN >= args.n) continue;
        [[unroll]] for (uint c = 0; c < CB; ++c)
            fill_b(j, c, CHUNKS(b)[begin_b + (j * CB + c) * SG + LANE], begin_b + j * CB * SG);
        [[unroll]] for (uint i = 0; i < NI; ++i)
            if (row0 + i * MM < args.m) sums[i * NJ + j] = coopMatMulAdd(a[i], b[j], sums[i * NJ + j]);
    }
}

void sum_up() {
    const uint slices = args.lda / MK, first = k_begin / MK, end = k_end == args.k ? slices : k_end / MK;
    const uint from_a = batch * (args.batch_a / PA) + begin_of(row0 + sub_row, args.m, ROW_BLOCK_A, ACROSS_A, slices);
    const uint from_b = batch * (args.batch_b / PB) + begin_of(col0 + sub_col, args.n, ROW_BLOCK_B, ACROSS_B, slices);
    const uint at_a = from_a + LANE, at_b = from_b + LANE;
    const uint begin_a = FIRST_CHUNK(a) + from_a, begin_b = FIRST_CHUNK(b) + from_b;
    if (STAGES == 3) {
        uint next_a = begin_a + (first + set) * ACROSS_A, next_b = begin_b + (first + set) * ACROSS_B;
        for (const uint end_a = begin_a + end * ACROSS_A; next_a < end_a; next_a += SETS * ACROSS_A) {
            take(next_a, next_b);
            next_b += SETS * ACROSS_B;
        }
        return;
    }
    const uint pairs = (end - first) / 2, steps = (pairs + SETS - 1 - set) / SETS;  // of slices: of all sharers, of one
    if (steps == 0) return;
    const uint phase = 2 * (row0 / BM) + col0 / BN;
    uint s = first + 2 * (set + SETS * walked(0, steps, phase));
    fetch_even(at_a + s * ACROSS_A, at_b + s * ACROSS_B);
    for (uint t = 1; t <= steps; ++t) {
        const uint after = first + 2 * (set + SETS * walked(t, steps, phase));
        fetch_odd(at_a + (s + 1) * ACROSS_A, at_b + (s + 1) * ACROSS_B);
        multiply_even(begin_a + s * ACROSS_A, begin_b + s * ACROSS_B);
        fetch_even(at_a + after * ACROSS_A, at_b + after * ACROSS_B);
        multiply_odd(begin_a + (s + 1) * ACROSS_A, begin_b + (s + 1) * ACROSS_B);
        s = after;
    }
}

void main() {
    if (!tile_of(row0, col0)) return;
    set = SUBGROUP / SHARES;
    sub_row = SUBGROUP % SHARES / (BN / WN) * WM;
    sub_col = SUBGROUP % (BN / WN) * WN;
    if (STAGES == 3) {  // one value instead of two, for few registers
        row0 += sub_row;
        col0 += sub_col;
        sub_row = sub_col = 0;
    }
    [[unroll]] for (uint i = 0; i < NI * NJ; ++i) sums[i] = NO_SUMS;
    if (k_end > k_begin) sum_up();
    store();
}
