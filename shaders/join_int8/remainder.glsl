// SPDX-License-Identifier: MIT
// A whole number from its remainder by each modulus, by the Chinese remainder theorem.
#ifndef VKGEMM_JOIN_INT8_REMAINDER_GLSL
#define VKGEMM_JOIN_INT8_REMAINDER_GLSL
#include "common/f64_bits.glsl"
#include "common/modulus.glsl"

const uint LIMB = 0xfffffu;
const uint LAST = WIDE ? 6 : 5;
uint limb[MODULI_LIMBS];  // of a sum in the making, up to the last one, which has all higher bits too

// Zero, and P / 2 - 1 more, so that what follows is not negative.
void clear_limbs() {
#define X(i, narrow, wide) limb[i] = WIDE ? wide : narrow;
    MODULI_HALF(X)
#undef X
}

// Carries, where limbs have 32 bits and no sign.
void carry_up() {
    for (uint i = 0u; i < LAST; ++i) {
        limb[i + 1u] += limb[i] >> 20;
        limb[i] &= LIMB;
    }
}

// Adds what has the remainder x by the t-th modulus p, and 0 by the others: x / (P / p) modulo p, times P / p. x is
// below 2^24. A limb has room for the shares of all moduli, as tests/plan/from_int8.cpp shows.
#define ADD_SHARE(t, x, inverse, l0, l1, l2, l3, l4, l5, l6)         \
    {                                                                \
        const uint share = remainder_of((x) * inverse, MODULUS[t + 1]);   \
        limb[0] += share * l0;                                       \
        limb[1] += share * l1;                                       \
        limb[2] += share * l2;                                       \
        limb[3] += share * l3;                                       \
        limb[4] += share * l4;                                       \
        limb[5] += share * l5;                                       \
        if (WIDE) limb[6] += share * l6;                             \
    }

// The same where limbs may be negative.
void carry() {
    for (uint i = 0u; i < LAST; ++i) {
        limb[i + 1u] += uint(int(limb[i]) >> 20);
        limb[i] &= LIMB;
    }
}

// The number, at most P / 2 in magnitude: that times 2^-exponent, rounded towards a number with its lowest bit set, and
// its sign bit.
uvec4 joined(out uint sign, out int exponent) {
    carry_up();
    // The quotient by P, or 1 more.
    const uint times =
        WIDE ? (limb[6] << 7 | limb[5] >> 13) / MODULI_TOP_WIDE : (limb[5] << 10 | limb[4] >> 10) / MODULI_TOP;
#define X(i, narrow, wide) limb[i] -= times * (WIDE ? wide : narrow);
    MODULI_PRODUCT(X)
#undef X
    carry();
    const uint again = int(limb[LAST]) < 0 ? 1u : 0u;
#define X(i, narrow, wide) limb[i] += again * (WIDE ? wide : narrow);
    MODULI_PRODUCT(X)
#undef X
#define X(i, narrow, wide) limb[i] -= WIDE ? wide : narrow;
    MODULI_HALF(X)
#undef X
    carry();
    sign = limb[LAST] & F64_SIGN;
    if (sign != 0u) {
        for (uint i = 0u; i <= LAST; ++i) limb[i] = uint(-int(limb[i]));
        carry();
    }
    exponent = 0;
    if (WIDE && limb[6] != 0u) {
        const uint lost = limb[0];
        for (uint i = 0u; i < 6u; ++i) limb[i] = limb[i + 1u];
        limb[0] |= lost != 0u ? 1u : 0u;
        exponent = 20;
    }
    return uvec4(limb[0] | limb[1] << 20, limb[1] >> 12 | limb[2] << 8 | limb[3] << 28, limb[3] >> 4 | limb[4] << 16,
                 limb[4] >> 16 | limb[5] << 4);
}

#endif
