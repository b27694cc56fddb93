// SPDX-License-Identifier: MIT
// The second pass of split-K: sums the partial results of the slices, always in the order of K, so that every run gives
// the same bits, and finishes them as one pass would have. Its A is the workspace: slice after slice, each batch x m
// x n
// without gaps. Four neighbouring elements an invocation; WIDE_A says that n is a multiple of 4.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "gemm.glsl"

void main() {
    const uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    const uint quads = (args.n + 3) / 4, all = args.batch * args.m * quads, slice_size = args.batch * args.m * args.n;
    const uint i = group * WG + gl_LocalInvocationIndex;
    if (group > all / WG || i >= all) return;  // the first: before group * WG wraps
    batch = i / (args.m * quads);
    const uint row = i / quads % args.m, col = i % quads * 4;
    const uint first = (batch * args.m + row) * args.n + col;
    acc4_t sum = acc4_t(0);
    for (uint s = 0; s < slices(); ++s) {
        if ((ALIGNED & WIDE_A) != 0) {
            sum += LOAD4(TYPE_A, FOUR(a, s * slice_size + first));
        } else {
            [[unroll]] for (uint j = 0; j < 4; ++j)
                sum[j] += LOAD(TYPE_A, ONE(a, s * slice_size + first + min(j, args.n - 1 - col)));
        }
    }
    store_d4(row, col, sum);
}
