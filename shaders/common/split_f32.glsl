// SPDX-License-Identifier: MIT
// Splits f32 into parts that matrix units take. Everything here works on bits, because compilers remove conversions
// that go there and back. A part holds the first binary digits of what is left of the f32. Infinities and NaN are in
// the first part.
//
// bf16: three parts of eight digits each hold the f32 exactly. Each part is kept 2^8 times larger relative to the one
// before it, so that the parts of a small f32 do not fall below the range of bf16. Parts are rounded: a second part is
// at most 2^-8 of the f32, a third 2^-16, and of either sign. So the products that are left out are about 2^-25 each
// and average out.
// f16: two parts, each rounded to 11 digits, hold the f32 except for 2^-23 of it. Below 2^-14 an f16 has fewer digits,
// and the rounded f32 is the only part.
#ifndef VKGEMM_SPLIT_F32_GLSL
#define VKGEMM_SPLIT_F32_GLSL

// Is the magnitude at least `least` and below `end`? All three are bits of an f32.
bvec4 is_between(uvec4 x, uint least, uint end) { return lessThan((x & 0x7fffffffu) - least, uvec4(end - least)); }
bvec4 has_finite_bits(uvec4 x) { return is_between(x, 0u, 0x7f800000u); }

// Of four f32: the first part as an f32, and what is left.
uvec4 bf16_first(uvec4 x) { return x + 0x8000u & 0xffff0000u; }
uvec4 bf16_rest(uvec4 x) {
    return floatBitsToUint((uintBitsToFloat(x) - uintBitsToFloat(bf16_first(x))) * 256.0);
}
uvec4 f16_first(uvec4 x) { return mix(x, (x + 0x1000u) & 0xffffe000u, is_between(x, 0x38800000u, 0x7f800000u)); }
uvec4 f16_rest(uvec4 x) {
    return mix(uvec4(0), floatBitsToUint(uintBitsToFloat(x) - uintBitsToFloat(f16_first(x))), has_finite_bits(x));
}

// Eight parts, still as f32, as 16 bytes.
uvec4 bf16_packed(uvec4 four, uvec4 next) {
    return uvec4(four.xz, next.xz) >> 16 | (uvec4(four.yw, next.yw) & 0xffff0000u);
}
uvec2 f16_packed(uvec4 x) {  // x is already rounded, except below 2^-14
    return uvec2(packHalf2x16(uintBitsToFloat(x.xy)), packHalf2x16(uintBitsToFloat(x.zw)));
}

// The first parts of eight f32.
uvec4 bf16_firsts(uvec4 four, uvec4 next) { return bf16_packed(bf16_first(four), bf16_first(next)); }
uvec4 f16_firsts(uvec4 four, uvec4 next) { return uvec4(f16_packed(f16_first(four)), f16_packed(f16_first(next))); }

// Can bf16_rest be applied to all four, twice? Not if a result could be subnormal, because drivers flush those to 0,
// nor if the first part would be rounded up to infinity.
bool bf16_is_plain(uvec4 x) {
    return !any(is_between(x, 1u, 0x0c000000u)) && all(is_between(x, 0u, 0x7f7f8000u));
}

// A part of any f32, by integer arithmetic: its eight digits d, not rounded, times 2^(e - 134).
uvec4 bf16_part(uvec4 x, uint part) {
    const uvec4 field = x >> 23 & 255u, e = max(field, 1u);
    const uvec4 digits = (x & 0x7fffffu) + (field + 255u >> 8 << 23);  // the first is implied in all but subnormals
    const uvec4 d = digits >> (16 - 8 * part) & 255u, normal = floatBitsToUint(vec4(d)) + (e - 134u << 23);
    const bvec4 subnormal = lessThanEqual(ivec4((floatBitsToUint(vec4(d)) >> 23) + e), ivec4(134));
    const uvec4 finite = mix(mix(normal, d << min(e + 15u, 31u), subnormal), uvec4(0), equal(d, uvec4(0)));
    const uvec4 quiet = x | uvec4(notEqual(x & 0x7fffffu, uvec4(0))) << 22;  // a NaN stays a NaN
    return mix(part == 0 ? quiet : uvec4(0), finite | x & 0x80000000u, has_finite_bits(x));
}

// For the unit of this module.
#define REST(x) VKGEMM_PASTE(UNIT_A, _rest)(x)
#define FIRSTS(four, next) VKGEMM_PASTE(UNIT_A, _firsts)(four, next)

#endif
