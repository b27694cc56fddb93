// SPDX-License-Identifier: MIT
// Four elements at a time. It grows from `tiled`: shared memory holds vectors of 128 bits, so one read feeds four rows
// of A or four columns of B, and two reads feed 16 multiply-adds.
//
//     invocation, TM = TN = 4: four rows          work group: BS x BS invocations, BS = BK;
//     BS apart, four neighbouring columns         BM = BS * TM, BN = BS * TN
//
//        x x x x . . . .                          With TM, TN above 4 it computes TM/4 x TN/4 such blocks of
//        . . . . . . . .                          4 BS x 4 BS, and an invocation holds TM x TN/4 vectors of sums.
//        x x x x . . . .   <- BS rows below
//
//   A: a vector holds four rows that are BS apart: neighbouring invocations copy neighbouring elements of each row.
//   B: a vector holds four neighbouring columns, one 128-bit load from memory.
#extension GL_GOOGLE_include_directive : require
#include "common/gemm.glsl"
#include "ladder/shared_memory.h"

const uint BS = BK;
const uint BLOCKS_A = TM / 4, BLOCKS_B = TN / 4;

shared acc4_t tile_a[TILED_A(BM, BN, BK) / 4];  // [block][k][row of the block]
shared acc4_t tile_b[TILED_B(BM, BN, BK) / 4];  // [block][k][vector of columns]

acc4_t four_rows(uint row, uint k) {
    return acc4_t(load_a(row, k), load_a(row + BS, k), load_a(row + 2 * BS, k), load_a(row + 3 * BS, k));
}
acc4_t four_columns(uint k, uint col) {
    if (TRANS_B == 0) return load_b4(k, col);
    return acc4_t(load_b(k, col), load_b(k, col + 1), load_b(k, col + 2), load_b(k, col + 3));
}

void copy_tiles(uint row0, uint col0, uint k0) {
    const uvec2 in_a = spread(gl_LocalInvocationIndex, BS, BS, TRANS_A);  // (row, k)
    const uvec2 in_b = spread(gl_LocalInvocationIndex, BS, BS, TRANS_B);  // (k, vector)
    [[unroll]] for (uint p = 0; p < BLOCKS_A; ++p)
        tile_a[(p * BS + in_a.y) * BS + in_a.x] = four_rows(row0 + p * 4 * BS + in_a.x, k0 + in_a.y);
    [[unroll]] for (uint p = 0; p < BLOCKS_B; ++p)
        tile_b[(p * BS + in_b.x) * BS + in_b.y] = four_columns(k0 + in_b.x, col0 + 4 * (p * BS + in_b.y));
}

void main() {
    uint row0, col0;
    if (!tile_of(row0, col0)) return;
    const uint y = gl_LocalInvocationIndex / BS, x = gl_LocalInvocationIndex % BS;

    acc4_t sum[TM * BLOCKS_B];
    [[unroll]] for (uint i = 0; i < TM * BLOCKS_B; ++i) sum[i] = acc4_t(0);

    for (uint k0 = k_begin; k0 < k_end; k0 += BS) {
        copy_tiles(row0, col0, k0);
        barrier();  // the tiles are complete
        for (uint k = 0; k < BS; ++k) {
            acc4_t b[BLOCKS_B];
            [[unroll]] for (uint q = 0; q < BLOCKS_B; ++q) b[q] = tile_b[(q * BS + k) * BS + x];
            [[unroll]] for (uint p = 0; p < BLOCKS_A; ++p) {
                const acc4_t a = tile_a[(p * BS + k) * BS + y];
                [[unroll]] for (uint i = 0; i < 4; ++i)
                    [[unroll]] for (uint q = 0; q < BLOCKS_B; ++q) sum[(4 * p + i) * BLOCKS_B + q] += a[i] * b[q];
            }
        }
        barrier();  // every invocation has read the tiles, so they may be overwritten
    }

    [[unroll]] for (uint i = 0; i < TM; ++i)  // row i of this invocation: i * BS below its first
        [[unroll]] for (uint q = 0; q < BLOCKS_B; ++q)
            store_d4(row0 + i * BS + y, col0 + 4 * (q * BS + x), sum[i * BLOCKS_B + q]);
}
