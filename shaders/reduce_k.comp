// SPDX-License-Identifier: MIT
// The second pass of split-K: sums the partial results of the slices, always in the order of K, so that every run
// gives the same bits, and finishes them as one pass would have. One invocation, one element. Its A is the workspace.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "gemm.glsl"

void main() {
    const uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    const uint one = args.m * args.n, all = one * args.batch;
    const uint at = group * WG + gl_LocalInvocationIndex;
    if (group > all / WG || at >= all) return;  // the first: before group * WG wraps
    batch = at / one;
    acc_t sum = acc_t(0);
    for (uint s = 0; s < slices(); ++s) sum += LOAD(TYPE_A, ONE(a, s * all + at));
    store_d(at % one / args.n, at % args.n, sum);
}
