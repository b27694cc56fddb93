// SPDX-License-Identifier: MIT
// What follows join_int8 if f64 from int8 has an epilogue: alpha, beta and C, then up to four steps, all in integers,
// so that every device gives the same bits. Each sum, product and quotient of f64 is rounded to nearest.
//
//     A: the products, m x n in the workspace       an invocation: one element
//     C, bias, scale, residual                       1. alpha, beta and C   2. the steps, in order
#extension GL_GOOGLE_include_directive : require
#include "common/int8_operands.glsl"
#include "join_int8/factors.glsl"

WORDS(a, uvec2, 8, BIND_A, readonly)
WORDS(d, uvec2, 8, BIND_D, )
WORDS(bias, uvec2, 8, BIND_BIAS, readonly)
WORDS(scale, uvec2, 8, BIND_SCALE, readonly)
WORDS(residual, uvec2, 8, BIND_RESIDUAL, )  // may be D

#include "join_int8/steps.glsl"

void main() {
    const uint i = work_group() * BN + gl_LocalInvocationIndex, row = i / args.n, col = i % args.n;
    if (work_group() > (args.m * args.n - 1) / BN || row >= args.m) return;
    uvec2 x = uvec2(0);
    if (args.k != 0) x = AT(a, args.a.x, row * args.lda + col);
    x = with_factors(x, row, col);
    // A loop, because drivers copy functions to each call, and SwiftShader compiles the copies slowly.
    uint steps[4] = uint[4](STEP_0, STEP_1, STEP_2, STEP_3);
    for (uint s = 0; s < 4 && steps[s] != VKGEMM_STEP_NONE; ++s) x = after_step(steps[s], row, col, x);
    AT(d, args.d.x, row * args.ldd + col) = x;
}
