// SPDX-License-Identifier: MIT
// Ordinary arithmetic at full width. A work group is made of teams of 32 invocations; a team computes WM x WN of D, an
// invocation TM x TN of that, in strips of 4 that lie a whole team apart: a strip is one 128-bit read of shared memory,
// and neighbours read neighbouring strips. Both tiles lie k by k in shared memory. The next tile is on its way from
// memory to registers while this one is computed, and the next k's strips are read while this k's are multiplied.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "gemm.glsl"

const uint ROW_A = (BM + SIMT_PAD) / 4, ROW_B = (BN + SIMT_PAD) / 4;      // strips from one k to the next
const uint DOWN = WM / TM, ACROSS = WN / TN;            // a team is DOWN x ACROSS invocations
const bool KA = TRANS_A == 0, KB = TRANS_B != 0;                          // is k the fast index in memory?
const uint ACROSS_A = (KA ? BK : BM) / 4, ACROSS_B = (KB ? BK : BN) / 4;  // strips in a row of the tile in memory
const uint DOWN_A = WG / ACROSS_A, DOWN_B = WG / ACROSS_B;                // rows that the work group loads at a time
const uint LOADS_A = BM * BK / 4 / WG, LOADS_B = BN * BK / 4 / WG;
const bool FAST_A = WHOLE * (ALIGNED & WIDE_A) != 0, FAST_B = WHOLE * (ALIGNED & WIDE_B) != 0;
const uint X4 = TM / 4, Y4 = TN / 4;

shared acc4_t tile_a[SIMT_A(BM, BN, BK) / 4];
shared acc4_t tile_b[SIMT_B(BM, BN, BK) / 4];
acc4_t sums[TM * Y4], next_a[LOADS_A], next_b[LOADS_B], x[X4], y[Y4], x_next[X4], y_next[Y4];
uint row0, col0, frag_a, frag_b;                // this invocation's first strips in shared memory
uint down_a, down_b, place_a, place_b, at_a, at_b;  // what it copies: row, place in the row, index in memory

float madd(float a, float b, float c) { return fma(a, b, c); }
int madd(int a, int b, int c) { return a * b + c; }

// Takes the tile at k0, or what of it is inside, from memory to registers.
void fetch(uint k0) {
    [[unroll]] for (uint i = 0; i < LOADS_A; ++i) {
        const uint r = down_a + i * DOWN_A;
        if (FAST_A) next_a[i] = LOAD4(TYPE_A, FOUR(a, at_a + i * DOWN_A * args.lda));
        else next_a[i] = KA ? load_a4(row0 + r, k0 + place_a) : load_a4(row0 + place_a, k0 + r);
    }
    [[unroll]] for (uint i = 0; i < LOADS_B; ++i) {
        const uint r = down_b + i * DOWN_B;
        if (FAST_B) next_b[i] = LOAD4(TYPE_B, FOUR(b, at_b + i * DOWN_B * args.ldb));
        else next_b[i] = KB ? load_b4(k0 + place_b, col0 + r) : load_b4(k0 + r, col0 + place_b);
    }
    at_a += KA ? BK : BK * args.lda;
    at_b += KB ? BK : BK * args.ldb;
}

void put() {
    [[unroll]] for (uint i = 0; i < LOADS_A; ++i) {
        const uint r = down_a + i * DOWN_A;
        if (KA) [[unroll]] for (uint q = 0; q < 4; ++q) tile_a[(place_a + q) * ROW_A + r / 4][r % 4] = next_a[i][q];
        else tile_a[r * ROW_A + place_a / 4] = next_a[i];
    }
    [[unroll]] for (uint i = 0; i < LOADS_B; ++i) {
        const uint r = down_b + i * DOWN_B;
        if (KB) [[unroll]] for (uint q = 0; q < 4; ++q) tile_b[(place_b + q) * ROW_B + r / 4][r % 4] = next_b[i][q];
        else tile_b[r * ROW_B + place_b / 4] = next_b[i];
    }
}

void compute() {
    [[unroll]] for (uint i = 0; i < X4; ++i) x[i] = tile_a[frag_a + i * DOWN];
    [[unroll]] for (uint j = 0; j < Y4; ++j) y[j] = tile_b[frag_b + j * ACROSS];
    [[unroll]] for (uint k = 0; k < BK; ++k) {
        if (k + 1 < BK) {
            [[unroll]] for (uint i = 0; i < X4; ++i) x_next[i] = tile_a[(k + 1) * ROW_A + frag_a + i * DOWN];
            [[unroll]] for (uint j = 0; j < Y4; ++j) y_next[j] = tile_b[(k + 1) * ROW_B + frag_b + j * ACROSS];
        }
        [[unroll]] for (uint j = 0; j < TN; ++j)
            [[unroll]] for (uint i = 0; i < TM; ++i)
                sums[i * Y4 + j / 4][j % 4] = madd(x[i / 4][i % 4], y[j / 4][j % 4], sums[i * Y4 + j / 4][j % 4]);
        [[unroll]] for (uint i = 0; i < X4; ++i) x[i] = x_next[i];
        [[unroll]] for (uint j = 0; j < Y4; ++j) y[j] = y_next[j];
    }
}

void main() {
    if (!tile_of(row0, col0)) return;
    const uint tid = gl_LocalInvocationIndex, team = tid / SIMT_TEAM, lane = tid % SIMT_TEAM;
    const uint row = team / (BN / WN) * WM + lane % DOWN * 4, col = team % (BN / WN) * WN + lane / DOWN * 4;
    frag_a = row / 4, frag_b = col / 4;
    down_a = tid / ACROSS_A, place_a = tid % ACROSS_A * 4;
    down_b = tid / ACROSS_B, place_b = tid % ACROSS_B * 4;
    at_a = batch * args.batch_a;
    at_a += KA ? (row0 + down_a) * args.lda + k_begin + place_a : (k_begin + down_a) * args.lda + row0 + place_a;
    at_b = batch * args.batch_b;
    at_b += KB ? (col0 + down_b) * args.ldb + k_begin + place_b : (k_begin + down_b) * args.ldb + col0 + place_b;

    [[unroll]] for (uint i = 0; i < TM * Y4; ++i) sums[i] = acc4_t(0);
    if (k_begin < k_end) {
        fetch(k_begin);
        put();
        barrier();
        for (uint k0 = k_begin + BK; k0 < k_end; k0 += BK) {
            fetch(k0);
            compute();
            barrier();  // everyone has read this tile
            put();
            barrier();
        }
        compute();
    }
    [[unroll]] for (uint i = 0; i < TM; ++i)
        [[unroll]] for (uint j = 0; j < Y4; ++j)
            store_d4(row0 + row + i / 4 * DOWN * 4 + i % 4, col0 + col + j * ACROSS * 4, sums[i * Y4 + j]);
}
