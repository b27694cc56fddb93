// SPDX-License-Identifier: MIT
// The second pass of split-K: adds up the partial sums of the slices, always in the same order, so that every run gives
// the same bits, and finishes them as one pass would have. It grows from `naive`: each result has invocations of its
// own, which read straight from memory.
//
//     the workspace: one m x n of partial sums a slice          team of TEAM invocations, TEAM = 2:
//     +--------+   +--------+   +--------+   +--------+           invocation 0: slices 0 and 1 ]
//     |        |   |        |   |        |   |        |           invocation 1: slices 2 and 3 ] added in shared memory
//     |  ####  |   |  ####  |   |  ####  |   |  ####  |
//     +--------+   +--------+   +--------+   +--------+         work group: WG / TEAM vectors of four columns
//      slice 0      1            2            3
//
// If D is small, one invocation for all slices would leave most of the device idle. A is the workspace here, which
// holds slice by slice, each batch x m rows of n sums that are lda apart. WIDE_A means that lda is a multiple of 4, and
// that what is between n and lda may be read.
#extension GL_GOOGLE_include_directive : require
#include "common/gemm.glsl"

const uint VECTORS = WG / TEAM;  // vectors that a work group finishes
const uint AHEAD = 8;            // loads in flight at a time
shared acc4_t run[TEAM > 1 ? WG : 1];

acc4_t partial_sum(uint at) {
    if ((ALIGNED & WIDE_A) != 0) return LOAD4(TYPE_A, FOUR(a, at));
    const uint last = args.n - 1 - at % args.lda;  // elements after this one in its row
    return acc4_t(LOAD(TYPE_A, ONE(a, at)), LOAD(TYPE_A, ONE(a, at + min(1, last))),
                  LOAD(TYPE_A, ONE(a, at + min(2, last))), LOAD(TYPE_A, ONE(a, at + min(3, last))));
}

void main() {
    const uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    const uint vectors = (args.n + 3) / 4, all = args.batch * args.m * vectors;
    const uint slice_size = args.batch * args.m * args.lda;
    if (group > (all - 1) / VECTORS) return;
    const uint tid = gl_LocalInvocationIndex, i = min(group * VECTORS + tid % VECTORS, all - 1);
    batch = i / (args.m * vectors);
    const uint row = i / vectors % args.m, col = i % vectors * 4;
    const uint first = (batch * args.m + row) * args.lda + col;

    const uint each = (slices() + TEAM - 1) / TEAM, begin = tid / VECTORS * each, end = min(begin + each, slices());
    acc4_t sum = acc4_t(0);
    for (uint s = begin; s < end; s += AHEAD) {
        acc4_t next[AHEAD];
        [[unroll]] for (uint j = 0; j < AHEAD; ++j) next[j] = partial_sum(min(s + j, end - 1) * slice_size + first);
        [[unroll]] for (uint j = 0; j < AHEAD; ++j) sum += s + j < end ? next[j] : acc4_t(0);
    }
    if (TEAM > 1) {
        run[tid] = sum;
        barrier();  // every invocation has written its sum
        // Only the first VECTORS invocations add up the right ones; they alone store.
        [[unroll]] for (uint t = 1; t < TEAM; ++t) sum += run[(t * VECTORS + tid) % WG];
    }
    if (tid < VECTORS && group * VECTORS + tid < all) store_d4(row, col, sum);
}
