// SPDX-License-Identifier: MIT
// f64 in integers, for devices without shaderFloat64, and so that every device gives the same bits. A number is a
// uvec2, low word first. A magnitude of 128 bits is a uvec4, likewise. Results are rounded to nearest, ties to even;
// there is one NaN.
#ifndef VKGEMM_F64_BITS_GLSL
#define VKGEMM_F64_BITS_GLSL

const uint F64_SIGN = 0x80000000u, F64_INFINITE = 0x7ff00000u;
const int F64_BIAS = 1075;  // an element is its significand, a whole number, times 2^(its exponent - F64_BIAS)

uvec2 f64_nan() { return uvec2(0u, 0x7ff80000u); }
uint f64_field(uvec2 x) { return x.y >> 20 & 0x7ffu; }
bool f64_is_finite(uvec2 x) { return f64_field(x) != 0x7ffu; }
bool f64_is_zero(uvec2 x) { return (x.x | (x.y & ~F64_SIGN)) == 0u; }
bool f64_is_nan(uvec2 x) { return !f64_is_finite(x) && (x.x | (x.y & 0xfffffu)) != 0u; }
int f64_exponent(uvec2 x) { return max(int(f64_field(x)), 1); }
uvec2 f64_significand(uvec2 x) { return uvec2(x.x, (x.y & 0xfffffu) | (f64_field(x) != 0u ? 0x100000u : 0u)); }

// The place of the highest bit that is set; x is not 0.
uint top_bit(uvec2 x) { return x.y != 0u ? 32u + uint(findMSB(x.y)) : uint(findMSB(x.x)); }
uint top_bit(uvec4 x) {
    return (x.w | x.z) != 0u ? 64u + top_bit(uvec2(x.z, x.w)) : top_bit(uvec2(x.x, x.y));
}

// By at most 63 bits.
uvec2 shifted_left(uvec2 x, uint by) {
    const uvec2 words = by >= 32u ? uvec2(0u, x.x) : x;
    const uint bits = by & 31u;
    return bits == 0u ? words : uvec2(words.x << bits, words.y << bits | words.x >> (32u - bits));
}
uvec2 shifted_right(uvec2 x, uint by) {
    const uvec2 words = by >= 32u ? uvec2(x.y, 0u) : x;
    const uint bits = by & 31u;
    return bits == 0u ? words : uvec2(words.x >> bits | words.y << (32u - bits), words.y >> bits);
}
// By at most 127 bits.
uvec4 shifted_left(uvec4 x, uint by) {
    if ((by & 64u) != 0u) x = uvec4(0u, 0u, x.x, x.y);
    if ((by & 32u) != 0u) x = uvec4(0u, x.x, x.y, x.z);
    const uint bits = by & 31u, rest = 32u - bits;
    if (bits != 0u)
        x = uvec4(x.x << bits, x.y << bits | x.x >> rest, x.z << bits | x.y >> rest, x.w << bits | x.z >> rest);
    return x;
}
// Sets the lowest bit if a bit that is lost was set.
uvec4 shifted_right(uvec4 x, uint by) {
    uint lost = 0u;
    if ((by & 64u) != 0u) {
        lost = x.x | x.y;
        x = uvec4(x.z, x.w, 0u, 0u);
    }
    if ((by & 32u) != 0u) {
        lost |= x.x;
        x = uvec4(x.y, x.z, x.w, 0u);
    }
    const uint bits = by & 31u, rest = 32u - bits;
    if (bits != 0u) {
        lost |= x.x << rest;
        x = uvec4(x.x >> bits | x.y << rest, x.y >> bits | x.z << rest, x.z >> bits | x.w << rest, x.w >> bits);
    }
    x.x |= lost != 0u ? 1u : 0u;
    return x;
}

uvec4 plus(uvec4 a, uvec4 b) {
    uvec4 sum = uvec4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
    const uint x = sum.x < a.x ? 1u : 0u;
    const uint y = sum.y < a.y || (x != 0u && sum.y == 0xffffffffu) ? 1u : 0u;
    const uint z = sum.z < a.z || (y != 0u && sum.z == 0xffffffffu) ? 1u : 0u;
    return uvec4(sum.x, sum.y + x, sum.z + y, sum.w + z);
}
uvec4 negated(uvec4 a) { return plus(uvec4(~a.x, ~a.y, ~a.z, ~a.w), uvec4(1u, 0u, 0u, 0u)); }

// The f64 nearest to magnitude times 2^exponent, with this sign bit.
uvec2 f64_rounded(uint sign, uvec4 magnitude, int exponent) {
    if ((magnitude.x | magnitude.y | magnitude.z | magnitude.w) == 0u) return uvec2(0u, sign);
    const uint top = top_bit(magnitude);
    const int scale = exponent + int(top);  // the result is below 2^(scale + 1)
    if (scale > 1023) return uvec2(0u, sign | F64_INFINITE);
    uvec4 x = shifted_left(magnitude, 127u - top);
    if (scale < -1022) x = shifted_right(x, uint(min(-1022 - scale, 127)));
    // The 53 bits that are kept end at bit 75.
    const uvec2 kept = uvec2(x.z >> 11 | x.w << 21, x.w >> 11);
    const bool half_is_set = (x.z & 0x400u) != 0u, more = ((x.z & 0x3ffu) | x.y | x.x) != 0u;
    const uint up = half_is_set && (more || (kept.x & 1u) != 0u) ? 1u : 0u;
    const uint low = kept.x + up;
    // The first of the 53 bits adds 1 to the exponent, and so does a carry from them.
    const uint high = kept.y + (low < up ? 1u : 0u) + (uint(max(scale, -1022) + 1022) << 20);
    return uvec2(low, sign | high);
}

uvec4 times(uvec2 a, uvec2 b) {
    uint low0, high0, low1, high1, low2, high2, low3, high3;
    umulExtended(a.x, b.x, high0, low0);
    umulExtended(a.x, b.y, high1, low1);
    umulExtended(a.y, b.x, high2, low2);
    umulExtended(a.y, b.y, high3, low3);
    return plus(plus(uvec4(low0, high0, low3, high3), uvec4(0u, low1, high1, 0u)), uvec4(0u, low2, high2, 0u));
}

uvec2 f64_times(uvec2 a, uvec2 b) {
    const uint sign = (a.y ^ b.y) & F64_SIGN;
    if (f64_is_nan(a) || f64_is_nan(b)) return f64_nan();
    if (!f64_is_finite(a) || !f64_is_finite(b))
        return f64_is_zero(a) || f64_is_zero(b) ? f64_nan() : uvec2(0u, sign | F64_INFINITE);
    const uvec4 product = times(f64_significand(a), f64_significand(b));
    return f64_rounded(sign, product, f64_exponent(a) + f64_exponent(b) - 2 * F64_BIAS);
}

uvec2 f64_plus(uvec2 a, uvec2 b) {
    if (f64_is_nan(a) || f64_is_nan(b)) return f64_nan();
    if (!f64_is_finite(a)) return !f64_is_finite(b) && a.y != b.y ? f64_nan() : a;
    if (!f64_is_finite(b)) return b;
    const uint size_a = a.y & ~F64_SIGN, size_b = b.y & ~F64_SIGN;
    const bool swapped = size_a < size_b || (size_a == size_b && a.x < b.x);
    const uvec2 large = swapped ? b : a, small = swapped ? a : b;
    // 64 bits below the units of the larger one: if more are lost, no leading bits cancel.
    const uint apart = uint(f64_exponent(large) - f64_exponent(small));
    const uvec2 m = f64_significand(large), n = f64_significand(small);
    uvec4 addend = uvec4(0u, 0u, n.x, n.y);
    addend = shifted_right(addend, min(apart, 127u));
    if ((large.y ^ small.y) >= F64_SIGN) addend = negated(addend);
    const uvec4 sum = plus(uvec4(0u, 0u, m.x, m.y), addend);
    const bool is_zero = (sum.x | sum.y | sum.z | sum.w) == 0u;
    const uint sign = is_zero ? a.y & b.y & F64_SIGN : large.y & F64_SIGN;
    return f64_rounded(sign, sum, f64_exponent(large) - F64_BIAS - 64);
}

uvec2 f64_negated(uvec2 x) { return uvec2(x.x, x.y ^ F64_SIGN); }

// From the bits of an f32.
uvec2 f64_of_f32(uint bits) {
    const uint sign = bits & F64_SIGN, field = bits >> 23 & 0xffu, rest = bits & 0x7fffffu;
    if (field == 0xffu) return rest != 0u ? f64_nan() : uvec2(0u, sign | F64_INFINITE);
    const uint m = field != 0u ? rest | 0x800000u : rest;
    return f64_rounded(sign, uvec4(m, 0u, 0u, 0u), int(max(field, 1u)) - 150);
}

// Neither is NaN.
bool f64_is_less(uvec2 a, uvec2 b) {
    if (f64_is_zero(a) && f64_is_zero(b)) return false;
    if (((a.y ^ b.y) & F64_SIGN) != 0u) return a.y >= F64_SIGN;
    const bool is_smaller = a.y < b.y || (a.y == b.y && a.x < b.x);  // in magnitude, if they differ
    return a.y >= F64_SIGN ? !is_smaller && a != b : is_smaller;
}

uvec2 f64_over(uvec2 a, uvec2 b) {
    const uint sign = (a.y ^ b.y) & F64_SIGN;
    if (f64_is_nan(a) || f64_is_nan(b)) return f64_nan();
    if (!f64_is_finite(a)) return f64_is_finite(b) ? uvec2(0u, sign | F64_INFINITE) : f64_nan();
    if (!f64_is_finite(b)) return uvec2(0u, sign);
    if (f64_is_zero(b)) return f64_is_zero(a) ? f64_nan() : uvec2(0u, sign | F64_INFINITE);
    if (f64_is_zero(a)) return uvec2(0u, sign);
    // Both significands with their highest bit at bit 52, and 56 bits of the quotient, the first of which is a unit.
    uvec2 rest = f64_significand(a), divisor = f64_significand(b), quotient = uvec2(0u);
    const uint up_a = 52u - top_bit(rest), up_b = 52u - top_bit(divisor);
    rest = shifted_left(rest, up_a);
    divisor = shifted_left(divisor, up_b);
    for (uint i = 0u; i < 56u; ++i) {
        const bool fits = rest.y > divisor.y || (rest.y == divisor.y && rest.x >= divisor.x);
        quotient = shifted_left(quotient, 1u);
        quotient.x |= fits ? 1u : 0u;
        if (fits) rest = uvec2(rest.x - divisor.x, rest.y - divisor.y - (rest.x < divisor.x ? 1u : 0u));
        rest = shifted_left(rest, 1u);
    }
    quotient.x |= (rest.x | rest.y) != 0u ? 1u : 0u;
    const int exponent = f64_exponent(a) - f64_exponent(b) - int(up_a) + int(up_b) - 55;
    return f64_rounded(sign, uvec4(quotient, 0u, 0u), exponent);
}

#endif
