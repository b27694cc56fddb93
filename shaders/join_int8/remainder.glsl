// SPDX-License-Identifier: MIT
// A whole number from what is left of it modulo each modulus, by the Chinese remainder theorem.
#ifndef VKGEMM_JOIN_INT8_REMAINDER_GLSL
#define VKGEMM_JOIN_INT8_REMAINDER_GLSL
#include "common/f64_bits.glsl"
#include "common/modulus.glsl"

const uint LIMB = 0xfffffu;
uint limb[MODULI_LIMBS];  // of a sum in the making; the last one has all higher bits too

// Zero, and P / 2 - 1 more, so that what follows is not negative.
void clear_limbs() {
#define X(i, half_of_p) limb[i] = half_of_p;
    MODULI_HALF(X)
#undef X
}

// Adds what leaves x modulo the t-th modulus p, and nothing modulo the others: x / (P / p) modulo p, times P / p. `x` is
// below 2^24.
#define ADD_SHARE(t, x, inverse, l0, l1, l2, l3, l4, l5)             \
    {                                                                \
        const uint share = left_of((x) * inverse, MODULUS[t + 1]);   \
        limb[0] += share * l0;                                       \
        limb[1] += share * l1;                                       \
        limb[2] += share * l2;                                       \
        limb[3] += share * l3;                                       \
        limb[4] += share * l4;                                       \
        limb[5] += share * l5;                                       \
    }

// Carries into the last limb; limbs may be negative.
void carry() {
    for (uint i = 0u; i + 1u < MODULI_LIMBS; ++i) {
        limb[i + 1u] += uint(int(limb[i]) >> 20);
        limb[i] &= LIMB;
    }
}

// The number, at most P / 2 in magnitude: that, and its sign bit.
uvec4 joined(out uint sign) {
    for (uint i = 0u; i + 1u < MODULI_LIMBS; ++i) {  // carries, where limbs have 32 bits and no sign
        limb[i + 1u] += limb[i] >> 20;
        limb[i] &= LIMB;
    }
    // The quotient by P, or 1 more.
    const uint times = (limb[5] << 10 | limb[4] >> 10) / MODULI_TOP;
#define X(i, of_p) limb[i] -= times * of_p;
    MODULI_PRODUCT(X)
#undef X
    carry();
    const uint again = int(limb[5]) < 0 ? 1u : 0u;
#define X(i, of_p) limb[i] += again * of_p;
    MODULI_PRODUCT(X)
#undef X
#define X(i, half_of_p) limb[i] -= half_of_p;
    MODULI_HALF(X)
#undef X
    carry();
    sign = limb[5] & F64_SIGN;
    if (sign != 0u) {
        for (uint i = 0u; i < MODULI_LIMBS; ++i) limb[i] = uint(-int(limb[i]));
        carry();
    }
    return uvec4(limb[0] | limb[1] << 20, limb[1] >> 12 | limb[2] << 8 | limb[3] << 28, limb[3] >> 4 | limb[4] << 16,
                 limb[4] >> 16 | limb[5] << 4);
}

#endif
