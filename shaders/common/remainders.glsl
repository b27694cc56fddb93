// SPDX-License-Identifier: MIT
// What join_int8 needs of a sum of products of int8: u, which is the sum times (P / p)^-1, modulo the modulus p that
// the product of the batch is for. It takes one byte in the workspace, where the sum takes four.
#ifndef VKGEMM_REMAINDERS_GLSL
#define VKGEMM_REMAINDERS_GLSL
#include "common/moduli.h"

OPERAND(remainder, u8, BIND_D, )  // [slice][product][row][column], rows of ldd bytes, a multiple of 4

// The reciprocal, and in bytes p - 1, the inverse, inverse_16 and inverse_31 (moduli.h), behind an empty one.
#define X(t, p, reciprocal, of_middle, of_high, inverse, inverse_16, inverse_31, l0, l1, l2, l3, l4, l5) \
    , uvec2(reciprocal, p - 1 | inverse << 8 | inverse_16 << 16 | uint(inverse_31) << 24)
const uvec2 OF_MODULUS[MODULI + 1] = uvec2[MODULI + 1](uvec2(0) VKGEMM_MODULI(X));
#undef X

uvec4 remainders_of(ivec4 sums) {
    const uvec2 of = OF_MODULUS[batch + 1];
    const uint p = (of.y & 0xff) + 1, inverse = of.y >> 8 & 0xff, inverse_16 = of.y >> 16 & 0xff;
    const uvec4 biased = uvec4(sums) + 0x80000000u;
    const uvec4 x = (biased >> 16) * inverse_16 + (biased & 0xffffu) * inverse + (of.y >> 24);  // below 2^25
    uvec4 quotient, low;
    umulExtended(x, uvec4(of.x), quotient, low);
    return x - (quotient >> 7) * p;
}

// The workspace begins where its descriptor does.
#ifdef VKGEMM_ADDRESSES
#define REMAINDERS args.d
#else
#define REMAINDERS uvec2(0)
#endif
uint index_remainder(uint row, uint col) { return ((slice * args.batch + batch) * args.m + row) * args.ldd + col; }

void store_remainder(uint row, uint col, int sum) {
    ONE_FROM(remainder, REMAINDERS, index_remainder(row, col)) = STORE(u8, remainders_of(ivec4(sum)).x);
}
// Of four columns, some of which may be past the last one.
void store_remainders(uint row, uint col, ivec4 sums) {
    SET_FOUR(remainder, u8, REMAINDERS, index_remainder(row, col), remainders_of(sums))
}

#endif
