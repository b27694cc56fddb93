// SPDX-License-Identifier: MIT
// How split_int8 scales a row of A or a column of B to whole numbers, whose remainders are multiplied.
#ifndef VKGEMM_SPLIT_INT8_SCALE_GLSL
#define VKGEMM_SPLIT_INT8_SCALE_GLSL
#include "common/f64_bits.glsl"
#include "common/modulus.glsl"

// floor(log2 |x|) + F64_BIAS, which is above 0; 0 if x is 0.
uint order_of(uvec2 x) {
    const uvec2 significand = f64_significand(x);
    return (significand.x | significand.y) == 0u ? 0u : uint(f64_exponent(x)) + top_bit(significand);
}

// |x| times 2^(22 + F64_BIAS - order), rounded up; `order` is at least order_of(x).
uint rounded_up(uvec2 x, uint order) {
    const uvec2 significand = f64_significand(x);
    const int right = int(order) - 22 - f64_exponent(x);
    if (right <= 0) return shifted_left(significand, uint(-right)).x;
    const uvec2 whole = shifted_right(significand, uint(min(right, 63)));
    const uvec2 back = shifted_left(whole, uint(min(right, 63)));
    return whole.x + (back.x != significand.x || back.y != significand.y ? 1u : 0u);
}

// The largest exponent mu for which 2^(2 mu) times the sum of the squares of a row is at most P / 2 - 1, if `squares`
// is the sum of the squares of rounded_up() with this order: then no product of a row and a column, so scaled, exceeds
// that, by Cauchy and Schwarz.
int exponent_of(uvec2 squares, uint order) {
    if ((squares.x | squares.y) == 0u) return 0;
    const uint top = top_bit(squares);
    const uvec2 first = shifted_left(squares, 63u - top);
    const uint high = WIDE ? MODULI_HALF_HIGH_WIDE : MODULI_HALF_HIGH;
    const uint low = WIDE ? MODULI_HALF_LOW_WIDE : MODULI_HALF_LOW;
    const bool above = first.y > high || (first.y == high && first.x > low);
    const int ratio = (WIDE ? MODULI_HALF_BITS_WIDE : MODULI_HALF_BITS) - int(top) - (above ? 1 : 0);
    return (ratio >> 1) + 22 + F64_BIAS - int(order);
}

// |x| times 2^exponent without its fraction; below 2^59, or 2^70 if there are more moduli.
uvec3 whole_of(uvec2 x, int exponent) {
    const int shift = f64_exponent(x) - F64_BIAS + exponent;
    const uvec2 significand = f64_significand(x);
    if (shift <= 0) return uvec3(shift <= -64 ? uvec2(0u, 0u) : shifted_right(significand, uint(-shift)), 0u);
    const uint by = uint(min(shift, 63));
    return uvec3(shifted_left(significand, by), WIDE ? shifted_right(significand, 64u - by).x : 0u);
}

#endif
