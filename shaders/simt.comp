// SPDX-License-Identifier: MIT
// Ordinary arithmetic at full rate. It grows from `block`: between the work group and the invocation there are teams of
// 32 invocations, and loads overlap with arithmetic.
//
//     work group BM x BN          team WM x WN: 32 invocations          invocation TM x TN
//     +---------+---------+       +--+--+--+--+--+--+--+--+             vectors of 4 rows or columns
//     | team 0  | team 1  |       |  |  |  |  |  |  |  |  |             that are a whole team apart
//     | WM x WN |         |       +--+--+--+--+--+--+--+--+
//     +---------+---------+   =   |  |  |  |  |  |  |  |  |             memory -> registers -> shared -> registers
//     | team 2  | team 3  |       +--+--+--+--+--+--+--+--+             tile t+1               tile t    k+1 and k
//     +---------+---------+
//
// A vector is one 128-bit read of shared memory, and neighbours read neighbouring vectors. Both tiles are stored k by
// k. The next tile is in flight from memory to registers while this one is computed, and the vectors of the next k are
// read while those of this one are multiplied.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "gemm.glsl"

const uint ROW_A = (BM + SIMT_PAD) / 4, ROW_B = (BN + SIMT_PAD) / 4;      // vectors from one k to the next
const uint DOWN = WM / TM, ACROSS = WN / TN;                              // a team is DOWN x ACROSS invocations
const bool KA = TRANS_A == 0, KB = TRANS_B != 0;                          // is the operand k-contiguous?
const uint ACROSS_A = (KA ? BK : BM) / 4, ACROSS_B = (KB ? BK : BN) / 4;  // vectors in a row of the tile in memory
const uint DOWN_A = WG / ACROSS_A, DOWN_B = WG / ACROSS_B;                // rows that the work group loads at a time
const uint LOADS_A = BM * BK / 4 / WG, LOADS_B = BN * BK / 4 / WG;
const bool FAST_A = WHOLE * (ALIGNED & WIDE_A) != 0, FAST_B = WHOLE * (ALIGNED & WIDE_B) != 0;
const uint X4 = TM / 4, Y4 = TN / 4;

shared acc4_t tile_a[SIMT_A(BM, BN, BK) / 4];
shared acc4_t tile_b[SIMT_B(BM, BN, BK) / 4];
acc4_t sums[TM * Y4], next_a[LOADS_A], next_b[LOADS_B];

// What an invocation copies of one operand: its row of the tile as stored in memory, the place in that row, and the
// index in memory of what is loaded next.
struct Copy {
    uint down, place, at;
};
Copy of_a, of_b;

float madd(float a, float b, float c) { return fma(a, b, c); }
#ifdef SUMS_IN_F64
double madd(double a, double b, double c) { return fma(a, b, c); }
#endif
int madd(int a, int b, int c) { return a * b + c; }

// Loads the tile at k0 to registers. Elements outside their operand become 0.
void fetch(uint row0, uint col0, uint k0) {
    [[unroll]] for (uint i = 0; i < LOADS_A; ++i) {
        const uint r = of_a.down + i * DOWN_A;
        if (FAST_A) next_a[i] = A4_AT(of_a.at + i * DOWN_A * args.lda);
        else next_a[i] = load_a4(row0 + (KA ? r : of_a.place), k0 + (KA ? of_a.place : r));
    }
    [[unroll]] for (uint i = 0; i < LOADS_B; ++i) {
        const uint r = of_b.down + i * DOWN_B;
        if (FAST_B) next_b[i] = B4_AT(of_b.at + i * DOWN_B * args.ldb);
        else next_b[i] = load_b4(k0 + (KB ? of_b.place : r), col0 + (KB ? r : of_b.place));
    }
    of_a.at += KA ? BK : BK * args.lda;
    of_b.at += KB ? BK : BK * args.ldb;
}

// Stores the tile that has arrived to shared memory.
void put() {
    [[unroll]] for (uint i = 0; i < LOADS_A; ++i) {
        const uint r = of_a.down + i * DOWN_A;
        if (KA) [[unroll]] for (uint q = 0; q < 4; ++q) tile_a[(of_a.place + q) * ROW_A + r / 4][r % 4] = next_a[i][q];
        else tile_a[r * ROW_A + of_a.place / 4] = next_a[i];
    }
    [[unroll]] for (uint i = 0; i < LOADS_B; ++i) {
        const uint r = of_b.down + i * DOWN_B;
        if (KB) [[unroll]] for (uint q = 0; q < 4; ++q) tile_b[(of_b.place + q) * ROW_B + r / 4][r % 4] = next_b[i][q];
        else tile_b[r * ROW_B + of_b.place / 4] = next_b[i];
    }
}

// Adds the products of the tile in shared memory; the invocation's first vectors of k = 0 are at first_a and first_b.
void compute(uint first_a, uint first_b) {
    acc4_t x[X4], y[Y4], x_next[X4], y_next[Y4];
    [[unroll]] for (uint i = 0; i < X4; ++i) x[i] = tile_a[first_a + i * DOWN];
    [[unroll]] for (uint j = 0; j < Y4; ++j) y[j] = tile_b[first_b + j * ACROSS];
    [[unroll]] for (uint k = 0; k < BK; ++k) {
        if (k + 1 < BK) {
            [[unroll]] for (uint i = 0; i < X4; ++i) x_next[i] = tile_a[(k + 1) * ROW_A + first_a + i * DOWN];
            [[unroll]] for (uint j = 0; j < Y4; ++j) y_next[j] = tile_b[(k + 1) * ROW_B + first_b + j * ACROSS];
        }
        [[unroll]] for (uint j = 0; j < TN; ++j)
            [[unroll]] for (uint i = 0; i < TM; ++i)
                sums[i * Y4 + j / 4][j % 4] = madd(x[i / 4][i % 4], y[j / 4][j % 4], sums[i * Y4 + j / 4][j % 4]);
        [[unroll]] for (uint i = 0; i < X4; ++i) x[i] = x_next[i];
        [[unroll]] for (uint j = 0; j < Y4; ++j) y[j] = y_next[j];
    }
}

void main() {
    uint row0, col0;
    if (!tile_of(row0, col0)) return;
    const uint tid = gl_LocalInvocationIndex, team = tid / SIMT_TEAM, lane = tid % SIMT_TEAM;
    const uint row = team / (BN / WN) * WM + lane % DOWN * 4, col = team % (BN / WN) * WN + lane / DOWN * 4;
    const uint first_a = row / 4, first_b = col / 4;
    of_a.down = tid / ACROSS_A, of_a.place = tid % ACROSS_A * 4;
    of_b.down = tid / ACROSS_B, of_b.place = tid % ACROSS_B * 4;
    of_a.at = batch * args.batch_a;
    of_a.at += KA ? (row0 + of_a.down) * args.lda + k_begin + of_a.place
                  : (k_begin + of_a.down) * args.lda + row0 + of_a.place;
    of_b.at = batch * args.batch_b;
    of_b.at += KB ? (col0 + of_b.down) * args.ldb + k_begin + of_b.place
                  : (k_begin + of_b.down) * args.ldb + col0 + of_b.place;

    [[unroll]] for (uint i = 0; i < TM * Y4; ++i) sums[i] = acc4_t(0);
    if (k_begin < k_end) {
        fetch(row0, col0, k_begin);
        put();
        barrier();  // the first tile is complete
        for (uint k0 = k_begin + BK; k0 < k_end; k0 += BK) {
            fetch(row0, col0, k0);
            compute(first_a, first_b);
            barrier();  // every invocation has read this tile
            put();
            barrier();  // the next one is complete
        }
        compute(first_a, first_b);
    }
    [[unroll]] for (uint i = 0; i < TM; ++i)
        [[unroll]] for (uint j = 0; j < Y4; ++j)
            store_d4(row0 + row + i / 4 * DOWN * 4 + i % 4, col0 + col + j * ACROSS * 4, sums[i * Y4 + j]);
}
