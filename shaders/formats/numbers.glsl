// SPDX-License-Identifier: MIT
// What block formats share: bits of words as numbers. A small whole number in the low bits of the fraction of 2^n is
// 2^n plus that number, so a code becomes a float by one `and`, one `or` and one subtraction, without a conversion.
#ifndef VKGEMM_NUMBERS_GLSL
#define VKGEMM_NUMBERS_GLSL

// The word that begins `by` bytes (0 to 4) after the beginning of `low`, which `high` follows. `step`: what `by` is a
// multiple of, 1 or 2.
uint word_between(uint low, uint high, uint by, uint step) {
    const uint bits = 8 * by & 31;
    const uint between = step == 2 ? low >> 16 | high << 16 : low >> bits | high << 1 << (31 - bits);
    return mix(step == 2 ? mix(between, low, by == 0) : between, high, by == 4);  // selects, where ?: may branch
}
float partat(uint word, uint byte) { return unpackHalf2x16(word >> (8 * byte)).x; }

// The numbers in the low bits of the four bytes of a word, at most 7 bits each, less `bias`.
vec4 small_numbers(uint word, uint bits, float bias) {
    return uintBitsToFloat(uvec4(word & bits | 0x4b000000u, word & bits << 8 | 0x47000000u,
                                 word & bits << 16 | 0x43000000u, word >> 8 & bits << 16 | 0x43000000u)) -
           (vec4(8388608, 32768, 128, 128) + bias);
}
// The four bytes of a word, less `bias`, which is a whole number of at most 128.
vec4 bytes_less(uint word, float bias) {
    return uintBitsToFloat(uvec4(word & 255u | 0x4b000000u, word & 0xff00u | 0x47000000u,
                                 word >> 16 & 255u | 0x4b000000u, word >> 24 | 0x4b000000u)) -
           (vec4(8388608, 32768, 8388608, 8388608) + bias);
}
vec4 unsigned_bytes(uint word) { return bytes_less(word, 0); }
vec4 signed_bytes(uint word) { return bytes_less(word ^ 0x80808080u, 128); }

// Four 4-bit codes in the low half of a word, one after the other, as the low halves of four bytes.
uint spread(uint four) { return (four & 15u) | (four & 240u) << 4 | (four & 3840u) << 8 | (four & 61440u) << 12; }

float iq4_nl(uint code) {  // its sixteen values, -127, -104, ... 113, four in a word
    const bool second = (code & 4) != 0, third = (code & 8) != 0;
    const uint lower = mix(0xbfad9881u, 0xf6eaddcfu, second), upper = mix(0x26190d01u, 0x71594535u, second);
    return float(bitfieldExtract(int(mix(lower, upper, third)), 8 * int(code & 3), 8));
}

vec4 iq4_nl_bytes(uint word) {  // of the low halves of four bytes
    return vec4(iq4_nl(word & 15u), iq4_nl(word >> 8 & 15u), iq4_nl(word >> 16 & 15u), iq4_nl(word >> 24 & 15u));
}

// Scale and offset of a sub-block of 32 of q4_k and q5_k: six bits each, of twelve bytes.
vec2 k_scales(uint halves, uvec3 scales, uint sub) {
    const uint by = 8 * (sub & 3);
    const uvec2 lower = scales.xy >> by, both = uvec2(scales.z) >> by + uvec2(0, 4);
    const uvec2 upper = both & 15u | (lower & 192u) >> 2;
    return unpackHalf2x16(halves) * vec2(mix(lower & 63u, upper, bvec2(sub >= 4)));
}
// The four bits of `word` from bit 4 * place on, as bit 4 of four bytes.
uint fifth_bits(uint word, uint place) {
    const uint four = word >> (4 * place);
    return (four & 1u) << 4 | (four & 2u) << 11 | (four & 4u) << 18 | (four & 8u) << 25;
}

#endif
