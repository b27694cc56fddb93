// SPDX-License-Identifier: MIT
// The codes of the pieces of pieces.glsl, as four signed bytes in a word, for packed dot products: those of a block of
// 32 elements, or of half of a piece. An element is scale * (code - CODE_BIAS), less the offset of its block.
#ifndef VKGEMM_PIECE_DOTS_GLSL
#define VKGEMM_PIECE_DOTS_GLSL
#include "formats/piece_quads.glsl"

const int CODE_BIAS = IS(Q4_0) ? 8 : IS(Q5_0) ? 16 : 0;
const bool HAS_OFFSET = IS(Q4_1) || IS(Q5_1) || IS(Q4_K) || IS(Q5_K);
const bool BY_SIXTEEN = IS(Q6_K);  // each half of the 32 elements has a scale of its own

// Word j of the eight of half h. In formats of 256 elements the halves are those of the codes' bytes.
uint piece_codes(uint row, uint p, uint h, uint j) {
    const uint upper = j / 4, i = 4 * h + j % 4;  // of blocks of 32: half of the codes' bytes, and which of their words
    switch (FORMAT_B) {
        case VKGEMM_TYPE_Q8_0: return h == 0 ? between(WORD(j), WORD(j + 1)) : WORD(9 + j);
        case VKGEMM_TYPE_Q4_0:
            return (h == 0 ? between(WORD(i), WORD(i + 1)) : WORD(i + 1)) >> (4 * upper) & 0x0f0f0f0fu;
        case VKGEMM_TYPE_Q4_1: return WORD(1 + i + h) >> (4 * upper) & 0x0f0f0f0fu;
        case VKGEMM_TYPE_Q5_0: {
            const uint codes = h == 0 ? between(WORD(1 + i), WORD(2 + i)) : WORD(3 + i);
            const uint fifth = h == 0 ? between(WORD(0), WORD(1)) : WORD(6);
            return codes >> (4 * upper) & 0x0f0f0f0fu | fifth_bits(fifth, j);
        }
        case VKGEMM_TYPE_Q5_1:
            return WORD(2 + i + 2 * h) >> (4 * upper) & 0x0f0f0f0fu | fifth_bits(WORD(1 + 6 * h), j);
        case VKGEMM_TYPE_Q4_K: return WORD(4 + j) >> (4 * h) & 0x0f0f0f0fu;
        case VKGEMM_TYPE_Q5_K:
            return WORD(12 + j) >> (4 * h) & 0x0f0f0f0fu | (WORD(4 + j) >> (2 * (p & 3) + h) & 0x01010101u) << 4;
    }
    const uint begin = WORD(PIECE_WORDS - 1);  // q6_k; c - 32 without a borrow
    const uint two = between(WORD(9 + j), WORD(10 + j), begin) >> (2 * (p & 1) + 4 * h) & 0x03030303u;
    const uint low = between(WORD(j), WORD(j + 1), begin) >> (4 * h) & 0x0f0f0f0fu;
    return (low | two << 4) + 0x60606060u ^ 0x80808080u;
}

vec2 q6_k_factors(uint row, uint p, uint h) {
    const uint begin = WORD(PIECE_WORDS - 1);
    const int both = int(WORD(18 + h) >> (8 * ((begin & 2) + 2 * (p & 1) & 3)));
    return partat(WORD(20), begin & 2) * vec2(bitfieldExtract(both, 0, 8), bitfieldExtract(both, 8, 8));
}
// Scale and offset of half h, or the scales of both sixteens.
vec2 dot_factors(uint row, uint p, uint h) {
    switch (FORMAT_B) {
        case VKGEMM_TYPE_Q4_1: return unpackHalf2x16(WORD(5 * h)) * vec2(1, -1);
        case VKGEMM_TYPE_Q5_1: return unpackHalf2x16(WORD(6 * h)) * vec2(1, -1);
        case VKGEMM_TYPE_Q4_K:
        case VKGEMM_TYPE_Q5_K: return k_scales(WORD(0), uvec3(WORD(1), WORD(2), WORD(3)), 2 * (p & 3) + h);
        case VKGEMM_TYPE_Q6_K: return q6_k_factors(row, p, h);
    }
    const uint second = IS(Q8_0) ? 8 : IS(Q5_0) ? 5 : 4;  // the word that ends with the second block's scale
    return vec2(h == 0 ? unpackHalf2x16(WORD(0)).x : unpackHalf2x16(WORD(second)).y, 0);
}

#endif
