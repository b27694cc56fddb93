// SPDX-License-Identifier: MIT
// f32 in parts that matrix units take.
#ifndef VKGEMM_DIGITS_GLSL
#define VKGEMM_DIGITS_GLSL

#define IS_BETWEEN(x, least, end) lessThan(((x) & 0x7fffffffu) - (least), uvec4((end) - (least)))  // without its sign
#define IS_FINITE(x) IS_BETWEEN(x, 0u, 0x7f800000u)

// An f32 in parts, each the first digits of what is left, rounded by bits: conversions there and back are folded away
// by compilers. Infinities and NaN are their first part.
// bf16: three parts of eight digits each are exactly it. A part is kept 2^8 times larger than the one before would have
// it, so that of a small f32 none is below what a bf16 holds. Rounded, a second part is at most 2^-8 of it and a third
// 2^-16, and of either sign: what products without the least of them leave out is 2^-25 each, and adds up to nothing.
// f16: two parts, each rounded to 11 digits, hold it but for 2^-23 of it; below 2^-14 an f16 has fewer digits, and what
// it is rounded to is its only part.
#define bf16_first(x) ((x) + 0x8000u & 0xffff0000u)
#define bf16_rest(x) floatBitsToUint((uintBitsToFloat(x) - uintBitsToFloat(bf16_first(x))) * 256.0)
#define bf16_firsts(four, next) bf16_packed(bf16_first(four), bf16_first(next))
#define bf16_packed(four, next) (uvec4((four).xz, (next).xz) >> 16 | (uvec4((four).yw, (next).yw) & 0xffff0000u))
#define f16_first(x) mix(x, ((x) + 0x1000u) & 0xffffe000u, IS_BETWEEN(x, 0x38800000u, 0x7f800000u))
#define f16_rest(x) mix(uvec4(0), floatBitsToUint(uintBitsToFloat(x) - uintBitsToFloat(f16_first(x))), IS_FINITE(x))
#define f16_firsts(four, next) uvec4(f16x2_of(f16_first(four)), f16x2_of(f16_first(next)))
uvec2 f16x2_of(uvec4 x) {  // in which there is nothing left to round, except below 2^-14
    return uvec2(packHalf2x16(uintBitsToFloat(x.xy)), packHalf2x16(uintBitsToFloat(x.zw)));
}

// May bf16_rest be taken of all four, and of what is left then? Not where a result could be subnormal, which drivers
// take for 0, nor where the first part would be rounded up to infinity.
bool bf16_is_plain(uvec4 x) {
    return !any(IS_BETWEEN(x, 1u, 0x0c000000u)) && all(IS_BETWEEN(x, 0u, 0x7f7f8000u));
}
// A part of any f32 in whole numbers: its eight digits d, not rounded, times 2^(e - 134).
uvec4 bf16_part(uvec4 x, uint part) {
    const uvec4 field = x >> 23 & 255u, e = max(field, 1u);
    const uvec4 digits = (x & 0x7fffffu) + (field + 255u >> 8 << 23);  // the first is left out of all but subnormals
    const uvec4 d = digits >> (16 - 8 * part) & 255u, normal = floatBitsToUint(vec4(d)) + (e - 134u << 23);
    const bvec4 subnormal = lessThanEqual(ivec4((floatBitsToUint(vec4(d)) >> 23) + e), ivec4(134));
    const uvec4 finite = mix(mix(normal, d << min(e + 15u, 31u), subnormal), uvec4(0), equal(d, uvec4(0)));
    const uvec4 quiet = x | uvec4(notEqual(x & 0x7fffffu, uvec4(0))) << 22;  // a NaN, whichever its digits
    return mix(part == 0 ? quiet : uvec4(0), finite | x & 0x80000000u, IS_FINITE(x));
}
#define REST(x) VKGEMM_PASTE(UNIT_A, _rest)(x)
#define FIRSTS(four, next) VKGEMM_PASTE(UNIT_A, _firsts)(four, next)  // of eight f32

#endif
