// SPDX-License-Identifier: MIT
// What is left of a whole number modulo a modulus.
#ifndef VKGEMM_MODULUS_GLSL
#define VKGEMM_MODULUS_GLSL
#include "common/moduli.h"

// A modulus p with its reciprocal, and the largest multiple of p up to 2^31, which makes a sum of products positive.
#define X(t, p, reciprocal, of_20, of_40, of_60) , uvec3(p, reciprocal, 0x80000000u - 0x80000000u % p)
const uvec3 MODULUS[MODULI_WIDE + 1] = uvec3[MODULI_WIDE + 1](uvec3(0) VKGEMM_MODULI(X));  // behind an empty one
#undef X

// What is left of x, or p more: a byte.
uint left_of(uint x, uvec3 modulus) {
    uint quotient, low;
    umulExtended(x, modulus.y, quotient, low);
    return x - (quotient >> 7) * modulus.x;
}
uvec4 left_of(uvec4 x, uvec3 modulus) {
    return uvec4(left_of(x.x, modulus), left_of(x.y, modulus), left_of(x.z, modulus), left_of(x.w, modulus));
}

#endif
