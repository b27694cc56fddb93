// SPDX-License-Identifier: MIT
// `cpu` from operands that `pack_panels` has laid out: an element of B is a lane of a vector, and an element of A is
// the same for all lanes. Both are read from one end to the other.
//
//        A, panels of 8 rows           B, panels of 8 columns       D, a work group
//      k |--------|                  k |--------|                   +--------+
//        |aaaaaaaa| k                  |bbbbbbbb| k                 |########| TM rows of 8 columns,
//        |aaaaaaaa| k + 1              |bbbbbbbb| k + 1             |########| a register each
//        |  ...   |                    |  ...   |                   +--------+
//
// The driver turns loads of uniform addresses into scalar loads. If the shader loads eight neighbours so and selects
// one by the number of the lane, which is a constant there, they become one load of a vector. An address for each lane
// would be a gather. The multiplication reads a factor from memory itself if the factor is used once. So an invocation
// has one column, and a step of k takes one load of B, and one multiplication and one addition for each row. Such a
// driver masks every variable of a loop in every iteration, so BK steps are one block of code.
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_basic : require
#include "common/gemm.glsl"
#include "cpu_packed/panels.glsl"

acc_t sums[TM];

// Where the panel's steps from k on begin.
uvec2 steps_of(uvec2 begin, uint at, uint panel, uint count, uint ld, uint k) {
    const uint last = (count - 1) / PANEL;  // the tile may reach past it
    return further(begin, at + min(panel, last) * PANEL * ld + k * PANEL);
}

void add(uint row0, uint col0, uint k) {
    const uvec2 b = steps_of(args.b, batch * args.batch_b, col0 / PANEL, args.n, args.ldb, k);
    uvec2 a[TM / PANEL];
    [[unroll]] for (uint i = 0; i < TM / PANEL; ++i)
        a[i] = steps_of(args.a, batch * args.batch_a, row0 / PANEL + i, args.m, args.lda, k);
    [[unroll]] for (uint q = 0; q < BK; ++q) {
        acc_t lanes[PANEL];
        [[unroll]] for (uint i = 0; i < PANEL; ++i) lanes[i] = LOAD(TYPE_B, ONE_FROM(b, b, q * PANEL + i));
        const acc_t value_b = by_lane(lanes);
        [[unroll]] for (uint i = 0; i < TM; ++i)
            sums[i] += LOAD(TYPE_A, ONE_FROM(a, a[i / PANEL], q * PANEL + i % PANEL)) * value_b;
    }
}

void main() {
    uint row0, col0;
    if (!tile_of(row0, col0)) return;
    [[unroll]] for (uint i = 0; i < TM; ++i) sums[i] = acc_t(0);
    uint k = k_begin;
    if (k < k_end) {
        do {  // the panels end in zeros, up to a multiple of BK
            add(row0, col0, k);
            k += BK;
        } while (k < k_end);
    }
    // Not the number of the lane: if it were used behind the loop too, it would be a variable of the loop.
    [[unroll]] for (uint i = 0; i < TM; ++i) store_d(row0 + i, col0 + gl_LocalInvocationIndex, sums[i]);
}
