// SPDX-License-Identifier: MIT
// The first pass of `cpu_packed`: copies A or B to the workspace in panels of PANEL rows. It grows from `pack`.
//
//     the operand, as rows along k             the workspace, panel by panel
//     +----------+----------+----               +--------+--------+-----+
//     | 8 rows   |          |                   | 8 rows | 8 rows | ... | zeros up to a multiple of the
//     | BN steps |          |          ->       | of k   | of k+1 |     | product's step
//     +----------+----------+----               +--------+--------+-----+
//       a work group each
//
// Both operands are rows along k here: A's rows, B's columns (TRANS_A: the operand is not k-contiguous). Eight
// neighbours in memory are one load of a vector: see cpu_packed.comp. Those at an edge begin so early that all eight
// exist, and some are copied twice.
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_basic : require
#include "common/gemm.glsl"
#include "cpu_packed/panels.glsl"

void put(uint row, uint k, acc_t value) {
    const uint at = batch * args.batch_d + row / PANEL * PANEL * args.ldd + k * PANEL + row % PANEL;
    ONE_FROM(partial, args.d, at) = STORE(ACC, value);
}

// Eight rows and steps.
void copy(uint row0, uint k0) {
    const uint lane = gl_LocalInvocationIndex;
    const uint first_k = min(k0, args.k - PANEL), first_row = min(row0, args.m - PANEL);
    acc_t values[PANEL];
    [[unroll]] for (uint i = 0; i < PANEL; ++i) {
        const uint line = TRANS_A != 0 ? first_k + i : first_row + i, along = TRANS_A != 0 ? first_row : first_k;
        const uvec2 begin = further(args.a, batch * args.batch_a + line * args.lda + along);
        acc_t lanes[PANEL];
        [[unroll]] for (uint j = 0; j < PANEL; ++j) lanes[j] = LOAD(TYPE_A, ONE_FROM(a, begin, j));
        values[i] = by_lane(lanes);
    }
    [[unroll]] for (uint i = 0; i < PANEL; ++i)
        put(first_row + (TRANS_A != 0 ? lane : i), first_k + (TRANS_A != 0 ? i : lane), values[i]);
}

void main() {
    uint row0, k0;
    if (args.k == 0 || !tile_of(row0, k0)) return;
    const uint end = min(k0 + BN, args.ldd), row = row0 + gl_LocalInvocationIndex;
    if (args.m < PANEL || args.k < PANEL) {
        for (uint k = k0; k < end; ++k) put(row, k, load_a(row, k));
        return;
    }
    uint k = k0;
    if (k < min(end, args.k)) {
        do {
            copy(row0, k);
            k += PANEL;
        } while (k < min(end, args.k));
    }
    for (k = max(k0, args.k); k < end; ++k) put(row, k, acc_t(0));
}
