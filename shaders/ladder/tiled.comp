// SPDX-License-Identifier: MIT
// Tiles in shared memory. It grows from `naive`: the work group copies BM x BK of A and BK x BN of B once, then every
// invocation reads them there.
//
//                  BN
//                +----+             work group BM x BN: WG = BM * BN invocations
//             BK |xxxx|
//                +----+             invocation: one element of D
//        BK
//      +----+    +----+             loads of A from memory fall by BN, of B by BM
//   BM |xxxx|    |####|
//      +----+    +----+
//
// With BK = BM = BN the tiles are square. With a deeper BK each invocation copies more, and there are fewer steps.
#extension GL_GOOGLE_include_directive : require
#define VKGEMM_PAIRS
#include "common/gemm.glsl"
#include "ladder/shared_memory.h"

shared acc_t tile_a[TILED_A(BM, BN, BK)];  // row by row
shared acc_t tile_b[TILED_B(BM, BN, BK)];

void copy_tiles(uint row0, uint col0, uint k0) {
    for (uint i = gl_LocalInvocationIndex; i < BM * BK; i += WG) {
        const uvec2 at = spread(i, BM, BK, TRANS_A);
        tile_a[at.x * BK + at.y] = load_a(row0 + at.x, k0 + at.y);
    }
    for (uint i = gl_LocalInvocationIndex; i < BK * BN; i += WG) {
        const uvec2 at = spread(i, BK, BN, TRANS_B);
        tile_b[at.x * BN + at.y] = load_b(k0 + at.x, col0 + at.y);
    }
}

void main() {
    uint row0, col0;
    if (!tile_of(row0, col0)) return;
    const uint row = gl_LocalInvocationIndex / BN;
    const uint col = gl_LocalInvocationIndex % BN;

    acc_t sum;
    for (uint product = 0; product <= PAIR; ++product) {
        is_gate = product < PAIR;
        sum = acc_t(0);
        for (uint k0 = k_begin; k0 < k_end; k0 += BK) {
            copy_tiles(row0, col0, k0);
            barrier();  // the tiles are complete
            [[unroll]] for (uint k = 0; k < BK; ++k) sum += tile_a[row * BK + k] * tile_b[k * BN + col];
            barrier();  // every invocation has read the tiles, so they may be overwritten
        }
        if (is_gate) gate_sum = sum;
    }
    store_d(row0 + row, col0 + col, sum);
}
