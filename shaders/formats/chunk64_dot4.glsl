// SPDX-License-Identifier: MIT
// The codes of the chunks of chunk64.glsl as four signed bytes in a word, for packed dot products. A chunk has two
// halves of 32 elements. An element is scale * (code - CODE_BIAS), less the offset of its block.
#ifndef VKGEMM_CHUNK64_DOT4_GLSL
#define VKGEMM_CHUNK64_DOT4_GLSL
#include "formats/chunk64_decode4.glsl"

#define CHUNK64(name, elements, bytes, words, fours, factors, bias, offset, dots) IS(name) ? bias :
const int CODE_BIAS =
#include "formats/all.glsl"
    0;
#undef CHUNK64
#define CHUNK64(name, elements, bytes, words, fours, factors, bias, offset, dots) IS(name) ? offset :
const uint OFFSETS =
#include "formats/all.glsl"
    0;
#undef CHUNK64
const bool HAS_OFFSET = OFFSETS == 1;
const bool BY_SIXTEEN = FOURS_OF_SCALE == 4;  // each half of the 32 elements has a scale of its own

// Word j of the eight of half h. In formats with blocks of 256 elements, half h is the low or high halves of the bytes.
uint chunk64_codes4(uint row, uint p, uint h, uint j) {
    const uint upper = j / 4, i = 4 * h + j % 4;  // in blocks of 32: which half of bytes, and which word
    switch (FORMAT_B) {
#define CHUNK64_CODES4
#include "formats/all.glsl"
#undef CHUNK64_CODES4
    }
    return 0;
}

// Scale and offset of half h; with BY_SIXTEEN, the scales of its first and its last 16 elements.
vec2 chunk64_dot_scales(uint row, uint p, uint h) {
    switch (FORMAT_B) {
#define CHUNK64_DOT_SCALES
#include "formats/all.glsl"
#undef CHUNK64_DOT_SCALES
    }
    return vec2(0);
}

#endif
