// SPDX-License-Identifier: MIT
// What join_int8 needs of a sum of products of int8: its remainder by the modulus that this product of the batch is
// for. It takes one byte in the workspace, where the sum takes four.
#ifndef VKGEMM_REMAINDERS_GLSL
#define VKGEMM_REMAINDERS_GLSL
#include "common/modulus.glsl"

OPERAND(remainder, u8, BIND_D, )  // [slice][product][row][column], rows of ldd bytes, a multiple of 4

uvec4 remainders_of(ivec4 sums) {
    const uvec3 modulus = MODULUS[batch + 1];
    return remainder_of(uvec4(sums) + modulus.z, modulus);
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
