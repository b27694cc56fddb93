// SPDX-License-Identifier: MIT
// Every type and block format as f32: what modules of mixed types (TYPE_A and TYPE_B `mixed`) read A and B with. A type
// is a row of VKGEMM_TYPE_ROWS and a file that all.glsl names; docs/formats.md describes the blocks.
//
// Eight neighbours along memory are decoded at a time, in two steps, so that arithmetic can run while memory answers:
// load8_of_block (mixed.glsl) loads the words that hold them, decode4 makes numbers of four of them. A number is the
// element itself, or, in formats whose blocks have a scale and nothing to add, the element without its scale: scales_of
// gives that, as two numbers to be multiplied by one after the other. All of it is exact in f32, except that a format
// with an offset rounds scale * code + offset once.
#ifndef VKGEMM_FORMATS_GLSL
#define VKGEMM_FORMATS_GLSL

#include "formats/numbers.glsl"
#include "formats/small_floats.glsl"

uint block_elements(uint type) {
#define VKGEMM_ROW(name, number, text, bytes, elements, digits, is_float, accumulator, result) \
    if (type == number) return elements;
    VKGEMM_TYPE_ROWS(VKGEMM_ROW)
#undef VKGEMM_ROW
    return 1;
}
uint block_bytes(uint type) {
#define VKGEMM_ROW(name, number, text, bytes, elements, digits, is_float, accumulator, result) \
    if (type == number) return bytes;
    VKGEMM_TYPE_ROWS(VKGEMM_ROW)
#undef VKGEMM_ROW
    return 4;
}

// Elements side by side whose codes are in the same halves of bytes; those of the other halves are as many behind them.
#define RUN_OF(type) (type == VKGEMM_TYPE_Q6_K ? 64 : type == VKGEMM_TYPE_Q4_K || type == VKGEMM_TYPE_Q5_K ? 32 : 16)

// Eight neighbours as they were loaded.
//   code   the words with their codes or elements, beginning with the word that holds the first byte
//   high   the words with further bits of the codes
//   scale  the words with scales
//   past   how many bytes of the first word are before the block
//   place  which eight elements of the block they are
struct Packed8 {
    uint code[5], high[3], scale[3];
    uint past, place;
};

// The formats of whole numbers with a scale and a zero point for each group. A group is a block that begins with both,
// as f16 or as f32.
bool is_grouped(uint type) { return type >= VKGEMM_TYPE_U4_G32 && type <= VKGEMM_TYPE_U8_G128_F32; }
uint code_bits(uint type) {
    return type < VKGEMM_TYPE_U8_G32 && (type - VKGEMM_TYPE_U4_G32) % 6 < 3 ? 4 : 8;
}
uint scale_words(uint type) {
    const uint first_of_f32 = type < VKGEMM_TYPE_U8_G32 ? VKGEMM_TYPE_U4_G32_F32 : VKGEMM_TYPE_U8_G32_F32;
    return type < first_of_f32 ? 1 : 2;
}
vec2 scale_and_zero(uint type, Packed8 x) {
    return scale_words(type) == 1 ? unpackHalf2x16(x.scale[0]) : uintBitsToFloat(uvec2(x.scale[0], x.scale[1]));
}

vec4 decode4(uint type, Packed8 x, uint part) {
    const bool second = part != 0;  // selects words, because an array with a variable index may be kept in memory
    const uint low = mix(x.code[0], x.code[1], second), next = mix(x.code[1], x.code[2], second);
    switch (type) {
#define FORMAT_DECODE4
#include "formats/all.glsl"
#undef FORMAT_DECODE4
    }
    return vec4(0);
}

vec2 scales_of(uint type, Packed8 x) {
    switch (type) {
#define FORMAT_SCALES
#include "formats/all.glsl"
#undef FORMAT_SCALES
    }
    return vec2(1);
}

#endif
