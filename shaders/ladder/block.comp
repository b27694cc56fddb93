// SPDX-License-Identifier: MIT
// Register blocking in two dimensions. It grows from `vec4`: an invocation keeps TM x TN sums in registers. For each k
// of the tile it takes TM values of A and TN of B out of shared memory and does TM * TN multiply-adds with them.
//
//     work group BM x BN, cut into BM/TM x BN/TN = WG invocations; what invocation 0 computes, TM = TN = 8:
//
//       0 0 0 0 . . . . 0 0 0 0 . . . .
//       0 0 0 0 . . . . 0 0 0 0 . . . .      vectors of 4 neighbouring rows or columns, a whole work group apart
//       . . . . . . . . . . . . . . . .
//       0 0 0 0 . . . . 0 0 0 0 . . . .
//
// A vector is one 128-bit read, and neighbouring invocations read neighbouring vectors, out of different banks. Both
// tiles are stored k by k, with BLOCK_PAD elements in between, so that writes that run along k use different banks,
// too.
#extension GL_GOOGLE_include_directive : require
#include "common/gemm.glsl"
#include "ladder/shared_memory.h"

const uint STRIDE_A = BM + BLOCK_PAD, STRIDE_B = BN + BLOCK_PAD;
const uint DOWN = BM / TM, ACROSS = BN / TN;  // invocations
const uint VECTOR_A = TM % 4 == 0 ? 4 : 1, VECTOR_B = TN % 4 == 0 ? 4 : 1;

shared acc_t tile_a[BLOCK_A(BM, BN, BK)];
shared acc_t tile_b[BLOCK_B(BM, BN, BK)];

void copy_tiles(uint row0, uint col0, uint k0) {
    for (uint i = 4 * gl_LocalInvocationIndex; i < BM * BK; i += 4 * WG) {
        const uvec2 at = spread(i, BM, BK, TRANS_A);  // (row, k)
        const acc4_t four = load_a4(row0 + at.x, k0 + at.y);
        const uint step = TRANS_A != 0 ? 1 : STRIDE_A;
        [[unroll]] for (uint j = 0; j < 4; ++j) tile_a[at.y * STRIDE_A + at.x + j * step] = four[j];
    }
    for (uint i = 4 * gl_LocalInvocationIndex; i < BK * BN; i += 4 * WG) {
        const uvec2 at = spread(i, BK, BN, TRANS_B);  // (k, column)
        const acc4_t four = load_b4(k0 + at.x, col0 + at.y);
        const uint step = TRANS_B != 0 ? STRIDE_B : 1;
        [[unroll]] for (uint j = 0; j < 4; ++j) tile_b[at.x * STRIDE_B + at.y + j * step] = four[j];
    }
}

// Where the i-th row or column of an invocation is in the tile, if `count` invocations share that side of it.
uint place(uint i, uint invocation, uint count, uint vector) {
    return (i / vector * count + invocation) * vector + i % vector;
}

void main() {
    uint row0, col0;
    if (!tile_of(row0, col0)) return;
    const uint y = gl_LocalInvocationIndex / ACROSS, x = gl_LocalInvocationIndex % ACROSS;

    acc_t sum[TM * TN];
    [[unroll]] for (uint i = 0; i < TM * TN; ++i) sum[i] = acc_t(0);

    for (uint k0 = k_begin; k0 < k_end; k0 += BK) {
        copy_tiles(row0, col0, k0);
        barrier();  // the tiles are complete
        for (uint k = 0; k < BK; ++k) {
            acc_t a[TM], b[TN];
            [[unroll]] for (uint i = 0; i < TM; ++i) a[i] = tile_a[k * STRIDE_A + place(i, y, DOWN, VECTOR_A)];
            [[unroll]] for (uint j = 0; j < TN; ++j) b[j] = tile_b[k * STRIDE_B + place(j, x, ACROSS, VECTOR_B)];
            [[unroll]] for (uint i = 0; i < TM; ++i)
                [[unroll]] for (uint j = 0; j < TN; ++j) sum[i * TN + j] += a[i] * b[j];
        }
        barrier();  // every invocation has read the tiles, so they may be overwritten
    }

    [[unroll]] for (uint i = 0; i < TM; ++i) {
        const uint row = row0 + place(i, y, DOWN, VECTOR_A);
        [[unroll]] for (uint j = 0; j < TN; j += VECTOR_B) {
            const uint col = col0 + place(j, x, ACROSS, VECTOR_B), at = i * TN + j;
            if (VECTOR_B == 4) store_d4(row, col, acc4_t(sum[at], sum[at + 1], sum[at + 2], sum[at + 3]));
            else store_d(row, col, sum[at]);
        }
    }
}
