// SPDX-License-Identifier: MIT
// The numbers of the chunks of chunk64.glsl, four at a time, and the factors of groups of such fours.
#ifndef VKGEMM_CHUNK64_DECODE4_GLSL
#define VKGEMM_CHUNK64_DECODE4_GLSL

#define CHUNK64(name, elements, bytes, words, fours, factors, bias, offset, dots) IS(name) ? fours :
const uint FOURS_OF_SCALE =  // at least so many fours share their factors
#include "formats/all.glsl"
    8;
#undef CHUNK64
const bool BY_HALVES = IS_K;  // first all low halves of the codes' bytes, then all high ones; else word by word

// The four elements number t of a chunk are in the low or high halves (h) of the bytes of code word j. chunk64_place is
// where the elements that they are multiplied by are in a row of A's step, in vectors of four. One vector is unused
// behind the chunks of each invocation, so that they begin in different banks.
uint word_of(uint t) { return IS(Q8_0) ? t : BY_HALVES ? t % 8 : t / 2; }
uint half_of_bytes(uint t) { return BY_HALVES ? t / 8 : t % 2; }
uint place_of_chunk64(uint p) { return p / DEPTH * (16 * DEPTH + 1) + p % DEPTH * 16; }
uint chunk64_place(uint p, uint t) {
    const uint j = word_of(t), h = half_of_bytes(t);
    if (HALVES_ALTERNATE) return place_of_chunk64((p & ~1u) + h) + 8 * (p & 1) + j;
    if (IS(Q8_0)) return place_of_chunk64(p) + t;
    if (IS_K) return place_of_chunk64(p) + 8 * h + j;
    if (IS(NVFP4)) return place_of_chunk64(p) + 4 * (j / 2) + 2 * h + j % 2;
    return place_of_chunk64(p) + 8 * (j / 4) + 4 * h + j % 4;
}

uint between(uint low, uint high) { return low >> 16 | high << 16; }
uint between(uint low, uint high, uint begin) { return (begin & 2) != 0 ? between(low, high) : low; }

// The numbers in the low or the high halves of a word's bytes, less `bias`.
vec4 nibbles_of(uint word, uint h, float bias) {
    const uint upper = word >> 16;
    if (h == 0)
        return uintBitsToFloat(uvec4(word & 15u | 0x4b000000u, word & 0xf00u | 0x47000000u, upper & 15u | 0x4b000000u,
                                     upper & 0xf00u | 0x47000000u)) -
               (vec4(8388608, 32768, 8388608, 32768) + bias);
    return uintBitsToFloat(uvec4(word & 0xf0u | 0x49000000u, word & 0xf000u | 0x45000000u,
                                 upper & 0xf0u | 0x49000000u, upper & 0xf000u | 0x45000000u)) -
           (vec4(524288, 2048, 524288, 2048) + bias);
}
vec4 e2m1_of(uint word, uint h) {
    const uint even = h == 0 ? word << 12 & 0x80008000u | word << 9 & 0x0e000e00u
                             : word << 8 & 0x80008000u | word << 5 & 0x0e000e00u;
    const uint odd = h == 0 ? word << 4 & 0x80008000u | word << 1 & 0x0e000e00u
                            : word & 0x80008000u | word >> 3 & 0x0e000e00u;
    const vec2 x = unpackHalf2x16(even), y = unpackHalf2x16(odd);
    return vec4(x.x, y.x, x.y, y.y);
}
#define WORD(i) chunk[row * WORDS_OF_64 + (i)]
vec4 chunk64_decode4(uint row, uint p, uint t) {
    const uint j = word_of(t), h = half_of_bytes(t), second = j / 4;  // block, where a chunk has two
    switch (FORMAT_B) {
#define CHUNK64_DECODE4
#include "formats/all.glsl"
#undef CHUNK64_DECODE4
    }
    return vec4(0);
}

// Of the fours of group g: two numbers to be multiplied by, one after the other. Without TWO_FACTORS the second is 1.
#define CHUNK64(name, elements, bytes, words, fours, factors, bias, offset, dots) IS(name) ? factors :
const uint FACTORS =
#include "formats/all.glsl"
    1;
#undef CHUNK64
const bool TWO_FACTORS = FACTORS == 2;
vec2 chunk64_scales(uint row, uint p, uint g) {
    switch (FORMAT_B) {
#define CHUNK64_SCALES
#include "formats/all.glsl"
#undef CHUNK64_SCALES
    }
    return vec2(1);
}

#endif
