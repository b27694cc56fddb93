// SPDX-License-Identifier: MIT
// The numbers of the pieces of pieces.glsl, four at a time (quads), and the factors of groups of quads.
#ifndef VKGEMM_PIECE_QUADS_GLSL
#define VKGEMM_PIECE_QUADS_GLSL

const uint GROUP_QUADS = IS(NVFP4) || IS(Q6_K) ? 4 : 8;  // quads that share their factors, or more
const bool BY_HALVES = IS_K;  // first all low halves of the codes' bytes, then all high ones; else word by word

// Quad t: half h of the bytes of code word j. Where its elements are in the step's part of A, in vectors of
// four, one of them unused behind the pieces of an invocation.
uint word_of(uint t) { return IS(Q8_0) ? t : BY_HALVES ? t % 8 : t / 2; }
uint half_of_bytes(uint t) { return BY_HALVES ? t / 8 : t % 2; }
uint place_of_piece(uint p) { return p / DEPTH * (16 * DEPTH + 1) + p % DEPTH * 16; }
uint piece_place(uint p, uint t) {
    const uint j = word_of(t), h = half_of_bytes(t);
    if (IS(Q6_K)) return place_of_piece((p & ~1u) + h) + 8 * (p & 1) + j;
    if (IS(Q8_0)) return place_of_piece(p) + t;
    if (IS_K) return place_of_piece(p) + 8 * h + j;
    if (IS(NVFP4)) return place_of_piece(p) + 4 * (j / 2) + 2 * h + j % 2;
    return place_of_piece(p) + 8 * (j / 4) + 4 * h + j % 4;
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
#define WORD(i) piece[row * PIECE_WORDS + (i)]
vec4 piece_quad(uint row, uint p, uint t) {
    const uint j = word_of(t), h = half_of_bytes(t), second = j / 4;  // block, where a piece has two
    switch (FORMAT_B) {
        case VKGEMM_TYPE_Q8_0: return signed_bytes(t < 8 ? between(WORD(t), WORD(t + 1)) : WORD(t + 1));
        case VKGEMM_TYPE_Q4_0: return nibbles_of(j < 4 ? between(WORD(j), WORD(j + 1)) : WORD(j + 1), h, 8);
        case VKGEMM_TYPE_IQ4_NL: {
            const uint codes = (j < 4 ? between(WORD(j), WORD(j + 1)) : WORD(j + 1)) >> (4 * h);
            return vec4(iq4_nl(codes & 15u), iq4_nl(codes >> 8 & 15u), iq4_nl(codes >> 16 & 15u),
                        iq4_nl(codes >> 24 & 15u));
        }
        case VKGEMM_TYPE_Q4_1: {
            const vec2 dm = unpackHalf2x16(WORD(5 * second));
            return nibbles_of(WORD(1 + j + second), h, 0) * dm.x + dm.y;
        }
        case VKGEMM_TYPE_Q5_0:
        case VKGEMM_TYPE_Q5_1: {
            const bool offset = IS(Q5_1);
            uint codes, fifth;
            if (offset) codes = WORD(2 + j + 2 * second), fifth = WORD(1 + 6 * second);
            else if (second == 0) codes = between(WORD(1 + j), WORD(2 + j)), fifth = between(WORD(0), WORD(1));
            else codes = WORD(j + 3), fifth = WORD(6);
            const uint five = codes >> (4 * h) & 0x0f0f0f0fu | fifth_bits(fifth, j % 4 + 4 * h);
            if (!offset) return small_numbers(five, 31, 16);
            const vec2 dm = unpackHalf2x16(WORD(6 * second));
            return small_numbers(five, 31, 0) * dm.x + dm.y;
        }
        case VKGEMM_TYPE_Q4_K: {
            const vec2 scales = k_scales(WORD(0), uvec3(WORD(1), WORD(2), WORD(3)), 2 * (p & 3) + h);
            return nibbles_of(WORD(4 + j), h, 0) * scales.x - scales.y;
        }
        case VKGEMM_TYPE_Q5_K: {
            const uint sub = 2 * (p & 3) + h;
            const vec2 scales = k_scales(WORD(0), uvec3(WORD(1), WORD(2), WORD(3)), sub);
            const uint codes = WORD(12 + j), high = WORD(4 + j);
            return small_numbers(codes >> (4 * h) & 0x0f0f0f0fu | (high >> sub & 0x01010101u) << 4, 31, 0) * scales.x -
                   scales.y;
        }
        case VKGEMM_TYPE_Q6_K: {
            const uint begin = WORD(PIECE_WORDS - 1);
            const uint codes = between(WORD(j), WORD(j + 1), begin) >> (4 * h);
            const uint two = between(WORD(9 + j), WORD(10 + j), begin) >> (2 * (p & 1) + 4 * h);
            return small_numbers(codes & 0x0f0f0f0fu | (two & 0x03030303u) << 4, 63, 32);
        }
        case VKGEMM_TYPE_MXFP4: {
            const uint by = (WORD(PIECE_WORDS - 1) & 2) + 1 + second;
            return e2m1_of(word_between(WORD(j), WORD(j + 1), by, 1), h);
        }
    }
    return e2m1_of(WORD(j + 1), h);  // nvfp4
}

// Of the quads of group g: two numbers to be multiplied by, one after the other. Without TWO_FACTORS the second is 1.
const bool TWO_FACTORS = IS(MXFP4) || IS(NVFP4);
vec2 piece_factors(uint row, uint p, uint g) {
    switch (FORMAT_B) {
        case VKGEMM_TYPE_Q8_0: return vec2(g == 0 ? unpackHalf2x16(WORD(0)).x : unpackHalf2x16(WORD(8)).y, 1);
        case VKGEMM_TYPE_Q4_0:
        case VKGEMM_TYPE_IQ4_NL: return vec2(g == 0 ? unpackHalf2x16(WORD(0)).x : unpackHalf2x16(WORD(4)).y, 1);
        case VKGEMM_TYPE_Q5_0: return vec2(g == 0 ? unpackHalf2x16(WORD(0)).x : unpackHalf2x16(WORD(5)).y, 1);
        case VKGEMM_TYPE_Q6_K: {
            const uint begin = WORD(PIECE_WORDS - 1);
            const uint both = WORD(18 + g / 2) >> (8 * ((begin & 2) + 2 * (p & 1) & 3) + 8 * (g & 1));
            return vec2(partat(WORD(20), begin & 2) * bitfieldExtract(int(both), 0, 8), 1);
        }
        case VKGEMM_TYPE_MXFP4: {
            const uint by = (WORD(PIECE_WORDS - 1) & 2) + 17 * g;
            const uint word = g == 0 ? WORD(0) : WORD(4);
            return e8m0_factors(word >> (8 * (by & 3)));
        }
        case VKGEMM_TYPE_NVFP4: return vec2(16384, e4m3(WORD(0) >> (8 * g)));
    }
    return vec2(1);
}

#endif
