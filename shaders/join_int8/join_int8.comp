// SPDX-License-Identifier: MIT
// The last pass of f64 from int8: makes each element of D of what the products of int8 left in the workspace, a sum for
// each modulus, or its remainder (common/remainders.glsl), and of the exponents that split_int8 scaled its row and
// column by. Only integers are used, so the device needs no f64, and every device gives the same bits.
//
//     bias: sums or remainders, plane by plane (slices of K follow)          an invocation: one element
//     +---------+  +---------+                                               1. each sum modulo its p, or as it is
//     |    #    |  |    #    |  ...  m rows, batch_a apart                   2. the number with these remainders
//     +---------+  +---------+                                               3. times 2^(-mu - nu), rounded once
//     scale: m exponents of rows; residual: n of columns                     4. alpha, beta and C
//
// An element whose row or column has an infinity or a NaN is summed from A and B themselves: products that are finite
// do not count then. If the problem has an epilogue (PARTIAL), D is the workspace, and finish_f64 does what is left.
#extension GL_GOOGLE_include_directive : require
#include "common/int8_operands.glsl"
#include "join_int8/factors.glsl"
#include "join_int8/remainder.glsl"

WORDS(a, uvec2, 8, BIND_A, readonly)
WORDS(b, uvec2, 8, BIND_B, readonly)
WORDS(d, uvec2, 8, BIND_D, )
WORDS(bias, int, 4, BIND_BIAS, readonly)
WORDS(scale, int, 4, BIND_SCALE, readonly)
WORDS(residual, int, 4, BIND_RESIDUAL, readonly)

const bool OF_REMAINDERS = FORMAT_BIAS == VKGEMM_TYPE_U8;  // whose rows are whole words

// The i-th remainder, or sum, of all planes.
int stored(uint i) {
    if (OF_REMAINDERS) return AT(bias, args.bias.x / 4, i / 4) >> 8 * (i & 3) & 0xff;
    return AT(bias, args.bias.x * 2, i);
}

uint remainder_of_sum(int sum, uint t) { return remainder_of(uint(sum) + MODULUS[t + 1].z, MODULUS[t + 1]); }

// The product of a finite row and column, rounded. Sums of all slices of K wrap around only where p is 2^8, remainders
// never.
uvec2 finite_product(uint row, uint col, int exponent) {
    const uint k = (args.k + MODULI_PAD_K - 1) / MODULI_PAD_K * MODULI_PAD_K;
    const uint slices = (k + args.k_chunk - 1) / args.k_chunk;
    const uint plane = args.m * args.batch_a, at = row * args.batch_a + col;
    int sums[MODULI_WIDE];
    [[unroll]] for (uint t = 0; t < PRODUCTS; ++t) sums[t] = stored(at + t * plane);
    for (uint s = 1; s < slices; ++s)
        [[unroll]] for (uint t = 0; t < PRODUCTS; ++t)
            sums[t] += stored(at + (s * PRODUCTS + t) * plane);
    clear_limbs();
#define X(t, inverse, l0, l1, l2, l3, l4, l5, l6) \
    ADD_SHARE(t, OF_REMAINDERS ? uint(sums[t]) : remainder_of_sum(sums[t], t), inverse, l0, l1, l2, l3, l4, l5, l6)
    if (WIDE) {
        VKGEMM_SHARES_WIDE(X)
    } else {
        VKGEMM_SHARES(X)
    }
#undef X
    uint sign;
    int lost;
    const uvec4 magnitude = joined(sign, lost);
    return f64_rounded(sign, magnitude, lost - exponent);
}

// The product of a row and a column of which one is not finite: their sum in order, of products that need no precision.
uvec2 other_product(uint row, uint col) {
    uvec2 sum = uvec2(0);
    for (uint k = 0; k < args.k; ++k) {
        const uvec2 x = AT(a, args.a.x, TRANS_A != 0 ? k * args.lda + row : row * args.lda + k);
        const uvec2 y = AT(b, args.b.x, TRANS_B != 0 ? col * args.ldb + k : k * args.ldb + col);
        if (!f64_is_finite(x) || !f64_is_finite(y)) sum = f64_plus(sum, f64_times(x, y));
    }
    return sum;
}

void main() {
    const uint i = work_group() * BN + gl_LocalInvocationIndex, row = i / args.n, col = i % args.n;
    if (work_group() > (args.m * args.n - 1) / BN || row >= args.m) return;
    uvec2 value = uvec2(0);
    if (args.k != 0) {
        const int mu = AT(scale, args.scale.x * 2, row), nu = AT(residual, args.residual.x * 2, col);
        value = mu == NOT_FINITE || nu == NOT_FINITE ? other_product(row, col) : finite_product(row, col, mu + nu);
    }
    AT(d, args.d.x, row * args.ldd + col) = PARTIAL != 0 ? value : with_factors(value, row, col);
}
