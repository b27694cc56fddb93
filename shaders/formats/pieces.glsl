// SPDX-License-Identifier: MIT
// Block formats in pieces of 64 elements: the words that hold one. piece_quads.glsl makes numbers of them.
// formats.glsl has the meaning of the codes. A piece of blocks of 32 is two blocks, of those of 256 a quarter of one,
// whose scales come with each piece. Pieces begin on words, except in formats whose 64 elements are not whole words:
// there a piece may begin in the middle of one, and the last entry of piece[] tells.
#ifndef VKGEMM_PIECES_GLSL
#define VKGEMM_PIECES_GLSL

#define IS(name) (FORMAT_B == VKGEMM_TYPE_##name)
const bool IS_K = IS(Q4_K) || IS(Q5_K) || IS(Q6_K);
const uint PIECES = IS_K ? 4 : 1;  // of a block, or of the two that a piece has
const uint PIECE_BLOCK = IS_K ? 256 : 64;
const uint PIECE_BYTES = IS(Q8_0)   ? 68  // of PIECE_BLOCK elements
                         : IS(Q4_1) ? 40
                         : IS(Q5_0) ? 44
                         : IS(Q5_1) ? 48
                         : IS(Q4_K) ? 144
                         : IS(Q5_K) ? 176
                         : IS(Q6_K) ? 210
                         : IS(MXFP4) ? 34
                                     : 36;
const uint PIECE_WORDS = IS(Q8_0)   ? 17
                         : IS(Q4_1) ? 10
                         : IS(Q5_0) ? 11
                         : IS(Q5_1) ? 12
                         : IS(Q4_K) ? 12
                         : IS(Q5_K) ? 20
                         : IS(Q6_K) ? 22
                         : IS(MXFP4) ? 10
                                     : 9;
const uint BLOCK = IS_K ? 256 : IS(NVFP4) ? 64 : 32, BLOCK_BYTES = PIECE_BYTES / (PIECE_BLOCK / BLOCK);

// An invocation has DEPTH pieces side by side in each of R columns. Where all columns begin on 16 bytes (CHUNKS_B), it
// loads them, or what it stages, UNIT words at a time. Spans are pieces that it then takes as they lie, UNIT_OF_SPAN
// words at a time: from memory, or, if B is staged, from shared memory.
const uint R = BN / (WG / TEAM), SPAN_BYTES = DEPTH * 64 / PIECE_BLOCK * PIECE_BYTES;  // of whole blocks
const bool STAGED = STAGES > 1;  // B goes through shared memory
const uint UNIT_OF_SPAN = DEPTH == 1 ? 1 : SPAN_BYTES % 16 == 0 ? 4 : SPAN_BYTES % 8 == 0 ? 2 : 1;
const uint UNIT = ALIGNED / CHUNKS_B % 2 == 0 ? 1 : STAGES > 1 ? 4 : UNIT_OF_SPAN;
const bool SPANS = (UNIT - 1) * (UNIT_OF_SPAN - 1) != 0;
const uint SPAN_WORDS = SPANS ? SPAN_BYTES / 4 : STAGES > 1 ? 1 : DEPTH * PIECE_WORDS;

// A step of a column in shared memory: its words, and those from one column to the next, so that pieces of four columns
// are in banks of their own, or are read 16 bytes at a time: those of DEPTH 4 by four columns side by side.
const bool BY_WORDS = !IS(Q4_K) && !IS(Q5_K);  // whose pieces, and the scales before them, are multiples of 16 bytes
const uint STEP = TEAM * DEPTH * 64;
const uint ODD_WORDS = PIECE_BYTES % 4 == 0 ? 0 : 1;
const uint STEP_BYTES = TEAM * DEPTH / PIECES * PIECE_BYTES, COLUMN_WORDS = STEP_BYTES / 4 + ODD_WORDS;
#ifdef VKGEMM_MATRIX_UNITS
#include "formats/matrix_pieces.glsl"
#else
const uint COLUMN = DEPTH == 1 ? (COLUMN_WORDS + 7) / 32 * 32 + (IS(Q6_K) ? 25 : 24)
                               : (COLUMN_WORDS + 23) / 32 * 32 + 8;
const uint B_BASE = 0;
shared uvec4 b_step[STAGED ? (BN * COLUMN + 3) / 4 : 1];
#endif
uint piece[R * DEPTH * PIECE_WORDS], next[R * SPAN_WORDS];

// Word i of B, from the one on that holds this byte, counted from the word that holds B's first one: a repetition or a
// group of a format whose blocks are no whole words may begin in the middle of one.
#ifdef VKGEMM_ADDRESSES
layout(buffer_reference, std430, buffer_reference_align = 4) readonly restrict buffer Words { uint at[4096]; };
layout(buffer_reference, std430, buffer_reference_align = 8) readonly restrict buffer Pairs { uvec2 at[]; };
uvec2 pair_of_b(uint byte) { return Pairs(args.b).at[byte / 8]; }
uint word_of_b(uint byte, uint i) {
    uint carry;
    const uint low = uaddCarry(args.b.x & ~3u, byte & ~3u, carry);
    return Words(uvec2(low, args.b.y + carry)).at[i];
}
#else
layout(std430, set = 0, binding = BIND_B) readonly restrict buffer b_pairs_block { uvec2 at[]; } b_pairs;
uvec2 pair_of_b(uint byte) { return b_pairs.at[(args.b.x + byte) / 8]; }
uint word_of_b(uint byte, uint i) { return b_one.at[args.b.x / 4 + byte / 4 + i]; }
#endif

// Word q of the piece `part` of what begins at byte `begin`: of B, or, if `held`, of a column's step, which begins at
// word `column` of shared memory, or of next[] if there are spans.
uint step_word(bool held, uint column, uint byte, uint i) {
    if (!held) return word_of_b(byte, i);
    if (SPANS) return next[column + byte / 4 + i];
    const uint w = column + byte / 4;
    return BY_WORDS ? b_step[(w + i) / 4][(w + i) % 4] : b_step[w / 4 + i / 4][i % 4];
}
uint piece_word(bool held, uint column, uint begin, uint part, uint q) {
    if (IS(Q4_K)) return q < 4 ? step_word(held, column, begin, q) : step_word(held, column, begin + 32 * part, q);
    if (IS(Q5_K)) return q < 12 ? step_word(held, column, begin, q) : step_word(held, column, begin + 32 * part, q);
    if (IS(Q6_K)) {  // codes, h, scales, d, and where the block begins
        if (q < 9) return step_word(held, column, begin + 32 * part, q);
        if (q < 18) return step_word(held, column, begin + 32 * (part / 2), 32 + q - 9);
        if (q < 20) return step_word(held, column, begin + 192 + 8 * (part / 2) + 2 * (part & 1), q - 18);
        return q == 20 ? step_word(held, column, begin, 52) : begin;
    }
    return IS(MXFP4) && q == 9 ? begin : step_word(held, column, begin, q);
}

// The same of piece p of what begins at byte `from`.
uint piece_word_at(bool held, uint column, uint from, uint p, uint q) {
    return piece_word(held, column, from + p / PIECES * PIECE_BYTES, p % PIECES, q);
}

// The UNIT words of B from this byte on, and zeros.
uvec4 unit_of_b(uint byte) {
    if (UNIT == 1) return uvec4(word_of_b(byte, 0), 0, 0, 0);
    if (UNIT == 2) return uvec4(pair_of_b(byte), 0, 0);
    return sixteen(false, past(false) + byte);
}

#endif
