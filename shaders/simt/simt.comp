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
// read while this k is multiplied. With STAGES 3 nothing is read ahead, for devices with few registers: other subgroups
// hide these loads.
#extension GL_GOOGLE_include_directive : require
#define D_STEP (PARTIAL != 0 || IN_FOURS ? 1 : BM / TM > BK ? 1 : WN / 4)  // see main
#include "common/gemm.glsl"
#include "simt/shared_memory.h"
#include "simt/simt_copy.glsl"

const uint DOWN = WM / TM, ACROSS = WN / TN;  // a team is DOWN x ACROSS invocations
const uint X4 = TM / 4, Y4 = TN / 4;

#ifdef VKGEMM_MIXED  // each copy of whose loads is code to decode all formats
const bool IN_TURN = false;
#else
const bool IN_TURN = STAGES == 3;
#endif

acc4_t sums[TM * Y4];

float madd(float a, float b, float c) { return fma(a, b, c); }
#ifdef SUMS_IN_F64
double madd(double a, double b, double c) { return fma(a, b, c); }
#endif
int madd(int a, int b, int c) { return a * b + c; }

// These add the products of the tile in shared memory; the invocation's first vectors of k = 0 are at first_a and
// first_b.
void compute_in_turn(uint first_a, uint first_b) {
    acc4_t x[X4], y[Y4];
    [[dont_unroll]] for (uint k = 0; k < BK; ++k) {
        [[unroll]] for (uint i = 0; i < X4; ++i) x[i] = tile_a[k * ROW_A + first_a + i * DOWN];
        [[unroll]] for (uint j = 0; j < Y4; ++j) y[j] = tile_b[k * ROW_B + first_b + j * ACROSS];
        [[unroll]] for (uint j = 0; j < TN; ++j)
            [[unroll]] for (uint i = 0; i < TM; ++i)
                sums[i * Y4 + j / 4][j % 4] = madd(x[i / 4][i % 4], y[j / 4][j % 4], sums[i * Y4 + j / 4][j % 4]);
    }
}
void compute(uint first_a, uint first_b) {
    if (IN_TURN) {
        compute_in_turn(first_a, first_b);
        return;
    }
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

// Writes four columns of D. Rows of bare sums are ldd apart here, a multiple of 4, so that they are written by fours.
void store(uint row, uint col, acc4_t sum) {
    if (PARTIAL == 0) {
        const out4_t value = finish_d4(row, col, sum);
        if (IN_FOURS && is_in_d(row, col)) put_d4(index_d(ROW_OF_D(row), col), value);
    } else if (is_in_d(row, col)) {
        const uint at = ((slice * args.batch + batch) * args.m + row) * args.ldd + col;
        IF_REMAINDERS(store_remainders(row, col, sum);)
        SET_FOUR(partial, ACC, args.d, at, sum)
    }
}

void main() {
    uint row0, col0;
    if (!tile_of(row0, col0)) return;
    const uint tid = gl_LocalInvocationIndex, team = tid / SIMT_TEAM, lane = tid % SIMT_TEAM;
    const uint row = team / (BN / WN) * WM + lane % DOWN * 4, col = team % (BN / WN) * WN + lane / DOWN * 4;
    const uint first_a = row / 4, first_b = col / 4;
    [[unroll]] for (uint i = 0; i < TM * Y4; ++i) sums[i] = acc4_t(0);
    if (k_begin < k_end) {
        const uint depth = WHOLE != 0 ? BK : (k_end - k_begin - 1) % BK + 1;
        start(row0, col0);
        fetch(true, depth);
        put();
        barrier();  // the first tile is complete
        for (uint k0 = k_begin + depth; k0 < k_end; k0 += BK) {
            if (!IN_TURN) fetch(false, BK);
            compute(first_a, first_b);
            barrier();  // every invocation has read this tile
            if (IN_TURN) fetch(false, BK);
            put();
            barrier();  // the next one is complete
        }
        compute(first_a, first_b);
    }
    [[unroll]] for (uint i = 0; i < TM; ++i) {
        const uint down = row0 + i / 4 * DOWN * 4 + i % 4, begin = team * DOWN * WN;
        if (STEP_OF_D != 1) {  // not by fours: through shared memory, so that neighbours write neighbours
            barrier();
            [[unroll]] for (uint j = 0; j < Y4; ++j)
                tile_b[(begin + lane % DOWN * WN) / 4 + j * ACROSS + lane / DOWN] = sums[i * Y4 + j];
            barrier();
        }
        [[unroll]] for (uint j = 0; j < Y4; ++j) {
            uint r = row, c = col + j * ACROSS * 4;
            if (STEP_OF_D != 1) {
                const uint at = j * SIMT_TEAM + lane, of_row = at / (WN / 4), of_col = at % (WN / 4);
                r = row - lane % DOWN * 4 + of_row * 4;
                c = col - lane / DOWN * 4 + of_col;
                [[unroll]] for (uint q = 0; q < 4; ++q) {
                    const uint of_tile = begin + of_row * WN + q * STEP_OF_D + of_col;
                    sums[i * Y4 + j][q] = tile_b[of_tile / 4][of_tile % 4];
                }
            }
            store(down + r, col0 + c, sums[i * Y4 + j]);
        }
    }
}
