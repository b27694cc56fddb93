// SPDX-License-Identifier: MIT
// Floating-point numbers of 4 and 8 bits, as f32. formats.glsl includes this for the types and block formats that have
// them.
#ifndef VKGEMM_SMALL_FLOATS_GLSL
#define VKGEMM_SMALL_FLOATS_GLSL

// Four elements of e4m3 as f32 with the same fraction. A subnormal e4m3 first gets the exponent of 2^-6, and then 2^-6
// is subtracted, so that no intermediate result is a subnormal f32.
vec4 e4m3_bytes(uint word) {
    const uvec4 bytes = uvec4(word, word >> 8, word >> 16, word >> 24), size = bytes & 127u;
    const bvec4 small = lessThan(size, uvec4(8));
    const uvec4 bits = ((size | mix(uvec4(0), uvec4(8), small)) << 20) + 0x3c000000u | (bytes & 128u) << 24;
    const vec4 excess = uintBitsToFloat(0x3c800000u | (bytes & 128u) << 24);
    const vec4 x = uintBitsToFloat(bits) - mix(vec4(0), excess, small);
    return mix(x, uintBitsToFloat(uvec4(0x7fc00000u)), equal(size, uvec4(127)));
}
vec4 e5m2_bytes(uint word) {  // the upper byte of f16
    return vec4(unpackHalf2x16(word << 8 & 0xff00u | word << 16 & 0xff000000u),
                unpackHalf2x16(word >> 8 & 0xff00u | word & 0xff000000u));
}

// e2m1 in the low halves of four bytes, times 2^-14: an f16 with the same bits has this value.
vec4 e2m1(uint word) {
    const uint other = word >> 8;
    const vec2 even = unpackHalf2x16((word & 0x00080008u) << 12 | (word & 0x00070007u) << 9);
    const vec2 odd = unpackHalf2x16((other & 0x00080008u) << 12 | (other & 0x00070007u) << 9);
    return vec4(even.x, odd.x, even.y, odd.y);
}
// A power of two of eight bits, with the 2^14 that e2m1 leaves out. 2^-127 is below the normal numbers.
vec2 e8m0_factors(uint bits) {
    const uint e = bits & 255u;
    const float power = uintBitsToFloat(mix(max(e, 1) << 23, 0x7fc00000u, e == 255));
    return vec2(16384, mix(power, 0.5 * power, e == 0));
}
float e4m3(uint bits) {  // without a sign; 2^-7 times m / 4 below the normal numbers
    const uint e = bits >> 3 & 15u, m = bits & 7u;
    const float normal = uintBitsToFloat((e + 120) << 23 | m << 20);
    return mix(mix(normal, float(m) * 0.001953125, e == 0), 0, (bits & 127u) == 127u);
}

#endif
