// SPDX-License-Identifier: MIT
// The simplest family: one invocation computes one element of D, straight from memory. Each invocation reads its own k
// values of A and k values of B.
//
//                 B                 work group BM x BN: WG = BM * BN invocations
//               +-+-+-+
//               | |x| |             invocation: one element
//               | |x| |
//               +-+-+-+             2 k loads for 2 k operations
//     A         D
//     +-----+   +-+-+-+
//     |xxxxx|   | |#| |
//     +-----+   +-+-+-+
#extension GL_GOOGLE_include_directive : require
#define VKGEMM_PAIRS
#include "common/gemm.glsl"

acc_t sum_of(uint row, uint col) {
    acc_t sum = acc_t(0);
    for (uint k = k_begin; k < k_end; ++k) sum += load_a(row, k) * load_b(k, col);
    return sum;
}

void main() {
    uint row0, col0;
    if (!tile_of(row0, col0)) return;
    const uint row = row0 + gl_LocalInvocationIndex / BN;
    const uint col = col0 + gl_LocalInvocationIndex % BN;

    SUM_UP_GATE(gate_sum = sum_of(row, col);)
    store_d(row, col, sum_of(row, col));
}
