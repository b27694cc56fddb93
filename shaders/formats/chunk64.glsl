// SPDX-License-Identifier: MIT
// Block formats in chunks of 64 elements: the words that hold one. chunk64_decode4.glsl makes numbers of them.
// formats.glsl has the meaning of the codes. A chunk of blocks of 32 is two blocks, of those of 256 a quarter of one,
// whose scales come with each chunk. Chunks begin on words, except in formats whose 64 elements are not whole words:
// there a chunk may begin in the middle of one, and the last entry of chunk[] tells.
#ifndef VKGEMM_CHUNK64_GLSL
#define VKGEMM_CHUNK64_GLSL

#define IS(name) (FORMAT_B == VKGEMM_TYPE_##name)

// A row CHUNK64 of a format: elements and bytes of a block, words of 64 elements, fours that share their factors, how
// many factors there are, what is subtracted from a code, and whether blocks have an offset.
#define CHUNK64(name, elements, bytes, words, fours, factors, bias, offset) IS(name) ? elements :
const uint BLOCK =
#include "formats/all.glsl"
    32;
#undef CHUNK64
#define CHUNK64(name, elements, bytes, words, fours, factors, bias, offset) IS(name) ? bytes :
const uint BLOCK_BYTES =
#include "formats/all.glsl"
    18;
#undef CHUNK64
#define CHUNK64(name, elements, bytes, words, fours, factors, bias, offset) IS(name) ? words :
const uint WORDS_OF_64 =
#include "formats/all.glsl"
    9;
#undef CHUNK64
const bool IS_K = BLOCK == 256;
const uint CHUNKS_OF_BLOCK = IS_K ? 4 : 1;  // of a block, or of the two that a chunk has
const uint CHUNK64_BLOCK = IS_K ? 256 : 64;  // elements of whole blocks
const uint CHUNK64_BYTES = BLOCK_BYTES * (CHUNK64_BLOCK / BLOCK);  // of these

// An invocation has DEPTH chunks side by side in each of R columns. Where all columns begin on 16 bytes (CHUNKS_B), it
// loads them, or what it stages, UNIT words at a time. Spans are chunks that it then takes as they lie, UNIT_OF_SPAN
// words at a time: from memory, or, if B is staged, from shared memory.
const uint R = BN / (WG / TEAM), SPAN_BYTES = DEPTH * 64 / CHUNK64_BLOCK * CHUNK64_BYTES;  // of whole blocks
const bool STAGED = STAGES > 1;  // B goes through shared memory
const uint UNIT_OF_SPAN = DEPTH == 1 ? 1 : SPAN_BYTES % 16 == 0 ? 4 : SPAN_BYTES % 8 == 0 ? 2 : 1;
const uint UNIT = ALIGNED / CHUNKS_B % 2 == 0 ? 1 : STAGES > 1 ? 4 : UNIT_OF_SPAN;
const bool SPANS = (UNIT - 1) * (UNIT_OF_SPAN - 1) != 0;
const uint SPAN_WORDS = SPANS ? SPAN_BYTES / 4 : STAGES > 1 ? 1 : DEPTH * WORDS_OF_64;

// A step of a column in shared memory: its words, and those from one column to the next, so that chunks of four columns
// are in banks of their own, or are read 16 bytes at a time: those of DEPTH 4 by four columns side by side.
const bool BY_WORDS = !IS(Q4_K) && !IS(Q5_K);  // whose chunks, and the scales before them, are multiples of 16 bytes
const uint STEP = TEAM * DEPTH * 64;
const uint ODD_WORDS = CHUNK64_BYTES % 4 == 0 ? 0 : 1;
const uint STEP_BYTES = TEAM * DEPTH / CHUNKS_OF_BLOCK * CHUNK64_BYTES, COLUMN_WORDS = STEP_BYTES / 4 + ODD_WORDS;
#ifdef VKGEMM_MATRIX_UNITS
#include "formats/chunk64_matrix.glsl"
#else
const uint COLUMN = DEPTH == 1 ? (COLUMN_WORDS + 7) / 32 * 32 + (IS(Q6_K) ? 25 : 24)
                               : (COLUMN_WORDS + 23) / 32 * 32 + 8;
const uint B_BASE = 0;
shared uvec4 b_step[STAGED ? (BN * COLUMN + 3) / 4 : 1];
#endif
uint chunk[R * DEPTH * WORDS_OF_64], next[R * SPAN_WORDS];

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

// Word q of the chunk `part` of what begins at byte `begin`: of B, or, if `held`, of a column's step, which begins at
// word `column` of shared memory, or of next[] if there are spans.
uint step_word(bool held, uint column, uint byte, uint i) {
    if (!held) return word_of_b(byte, i);
    if (SPANS) return next[column + byte / 4 + i];
    const uint w = column + byte / 4;
    return BY_WORDS ? b_step[(w + i) / 4][(w + i) % 4] : b_step[w / 4 + i / 4][i % 4];
}
uint chunk64_word(bool held, uint column, uint begin, uint part, uint q) {
#define CHUNK64_WORD
#include "formats/all.glsl"
#undef CHUNK64_WORD
    return step_word(held, column, begin, q);
}

// The same of chunk p of what begins at byte `from`.
uint chunk64_word_at(bool held, uint column, uint from, uint p, uint q) {
    return chunk64_word(held, column, from + p / CHUNKS_OF_BLOCK * CHUNK64_BYTES, p % CHUNKS_OF_BLOCK, q);
}

// The UNIT words of B from this byte on, and zeros.
uvec4 unit_of_b(uint byte) {
    if (UNIT == 1) return uvec4(word_of_b(byte, 0), 0, 0, 0);
    if (UNIT == 2) return uvec4(pair_of_b(byte), 0, 0);
    return sixteen(false, past(false) + byte);
}

#endif
