// SPDX-License-Identifier: MIT
// The remainder of a whole number.
#ifndef VKGEMM_MODULUS_GLSL
#define VKGEMM_MODULUS_GLSL
#include "common/moduli.h"

// A modulus p with its reciprocal, and the largest multiple of p up to 2^31, which makes a sum of products positive.
#define X(t, p, reciprocal, of_20, of_40, of_60) , uvec3(p, reciprocal, 0x80000000u - 0x80000000u % p)
const uvec3 MODULUS[MODULI_WIDE + 1] = uvec3[MODULI_WIDE + 1](uvec3(0) VKGEMM_MODULI(X));  // behind an empty one
#undef X

// The remainder of x, or p more: a byte.
uint remainder_of(uint x, uvec3 modulus) {
    uint quotient, low;
    umulExtended(x, modulus.y, quotient, low);
    return x - (quotient >> 7) * modulus.x;
}
uvec4 remainder_of(uvec4 x, uvec3 modulus) {
    return uvec4(remainder_of(x.x, modulus), remainder_of(x.y, modulus), remainder_of(x.z, modulus),
                 remainder_of(x.w, modulus));
}

#endif
