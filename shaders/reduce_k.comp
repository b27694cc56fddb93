// SPDX-License-Identifier: MIT
// The second pass of split-K: sums the partial results of the slices, always in the same order, so that every run gives
// the same bits, and finishes them as one pass would have. Its A is the workspace: slice after slice, each of them
// batch x m x n without gaps. Four neighbouring elements (a quad) to a team of TEAM invocations, each of which sums a run
// of slices: where D is small, one invocation for all of them would leave most of the device idle. WIDE_A says that n
// is a multiple of 4.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "gemm.glsl"

const uint QUADS = WG / TEAM;  // that a work group finishes
const uint AHEAD = 8;        // loads on their way at a time
shared acc4_t run[TEAM > 1 ? WG : 1];

acc4_t partial_sum(uint at) {
    if ((ALIGNED & WIDE_A) != 0) return LOAD4(TYPE_A, FOUR(a, at));
    const uint last = args.n - 1 - at % args.n;  // elements after this one in its row
    return acc4_t(LOAD(TYPE_A, ONE(a, at)), LOAD(TYPE_A, ONE(a, at + min(1, last))),
                  LOAD(TYPE_A, ONE(a, at + min(2, last))), LOAD(TYPE_A, ONE(a, at + min(3, last))));
}

void main() {
    const uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    const uint quads = (args.n + 3) / 4, all = args.batch * args.m * quads, slice_size = args.batch * args.m * args.n;
    if (group > (all - 1) / QUADS) return;
    const uint tid = gl_LocalInvocationIndex, i = min(group * QUADS + tid % QUADS, all - 1);
    batch = i / (args.m * quads);
    const uint row = i / quads % args.m, col = i % quads * 4;
    const uint first = (batch * args.m + row) * args.n + col;

    const uint each = (slices() + TEAM - 1) / TEAM, begin = tid / QUADS * each, end = min(begin + each, slices());
    acc4_t sum = acc4_t(0);
    for (uint s = begin; s < end; s += AHEAD) {
        acc4_t next[AHEAD];
        [[unroll]] for (uint j = 0; j < AHEAD; ++j) next[j] = partial_sum(min(s + j, end - 1) * slice_size + first);
        [[unroll]] for (uint j = 0; j < AHEAD; ++j) sum += s + j < end ? next[j] : acc4_t(0);
    }
    if (TEAM > 1) {
        run[tid] = sum;
        barrier();
        [[unroll]] for (uint t = 1; t < TEAM; ++t) sum += run[(t * QUADS + tid) % WG];  // right for the first run's alone
    }
    if (tid < QUADS && group * QUADS + tid < all) store_d4(row, col, sum);
}
