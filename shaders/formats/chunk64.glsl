// SPDX-License-Identifier: MIT
// Block formats in chunks of 64 elements: the words that hold one. chunk64_decode4.glsl makes numbers of them.
// formats.glsl has the meaning of the codes. In formats with blocks of 32 elements, a chunk is two blocks. In formats
// with blocks of 256, it is a quarter of a block, together with the block's scales. Chunks begin on words, except in
// formats whose 64 elements are not whole words: there the last entry of chunk[] is the byte where the chunk begins.
#ifndef VKGEMM_CHUNK64_GLSL
#define VKGEMM_CHUNK64_GLSL

#define IS(name) (FORMAT_B == VKGEMM_TYPE_##name)
// The chunk's low halves of bytes and its high ones are halves of two different chunks of elements.
#define HALVES_ALTERNATE IS(Q6_K)

// The row CHUNK64 of a format has the elements and the bytes of a block, the words of 64 elements, how many vectors of
// four elements share their factors, the number of factors, what is subtracted from a code, whether blocks have an
// offset, and whether there are codes as signed bytes (CHUNK64_CODES4).
#define CHUNK64(name, elements, bytes, words, fours, factors, bias, offset, dots) IS(name) ? elements :
const uint BLOCK =
#include "formats/all.glsl"
    32;
#undef CHUNK64
#define CHUNK64(name, elements, bytes, words, fours, factors, bias, offset, dots) IS(name) ? bytes :
const uint BLOCK_BYTES =
#include "formats/all.glsl"
    18;
#undef CHUNK64
#define CHUNK64(name, elements, bytes, words, fours, factors, bias, offset, dots) IS(name) ? words :
const uint WORDS_OF_64 =
#include "formats/all.glsl"
    9;
#undef CHUNK64
const bool IS_K = BLOCK == 256;
const uint CHUNKS_OF_BLOCK = IS_K ? 4 : 1;  // in a block, or in the two blocks of a chunk
const uint CHUNK64_BLOCK = IS_K ? 256 : 64;  // elements of a block, or of the two
const uint CHUNK64_BYTES = BLOCK_BYTES * (CHUNK64_BLOCK / BLOCK);  // bytes of them

// An invocation has DEPTH chunks side by side in each of R columns. It loads these, or the words that it stages, UNIT
// words at a time; UNIT is more than 1 only if all columns begin on 16 bytes (CHUNKS_B). With SPANS
// its chunks of a column are a span, which it copies unchanged, UNIT_OF_SPAN words at a time: from memory, or from
// shared memory if B is staged.
const uint R = BN / (WG / TEAM), SPAN_BYTES = DEPTH * 64 / CHUNK64_BLOCK * CHUNK64_BYTES;  // of whole blocks
const bool STAGED = STAGES > 1;  // B goes through shared memory
const uint UNIT_OF_SPAN = DEPTH == 1 ? 1 : SPAN_BYTES % 16 == 0 ? 4 : SPAN_BYTES % 8 == 0 ? 2 : 1;
const uint UNIT = ALIGNED / CHUNKS_B % 2 == 0 ? 1 : STAGES > 1 ? 4 : UNIT_OF_SPAN;
const bool SPANS = (UNIT - 1) * (UNIT_OF_SPAN - 1) != 0;
const uint SPAN_WORDS = SPANS ? SPAN_BYTES / 4 : STAGES > 1 ? 1 : DEPTH * WORDS_OF_64;

// A step of a column in shared memory has COLUMN_WORDS words, and columns are COLUMN words apart. This distance puts
// chunks of four columns into different banks, or, with DEPTH 4, lets four columns be read side by side, 16 bytes each.
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

// Word i of B, counted from the word that holds byte `byte`. Bytes count from the word that holds B's first byte: a
// matrix of a batch or a group may begin in the middle of a word, if blocks of the format are not whole words.
#ifdef VKGEMM_ADDRESSES
layout(buffer_reference, std430, buffer_reference_align = 4) readonly restrict buffer Words { uint at[4096]; };
layout(buffer_reference, std430, buffer_reference_align = 8) readonly restrict buffer Pairs { uvec2 at[]; };
uvec2 pair_of_b(uint byte) { return Pairs(B_BEGIN).at[byte / 8]; }
uint word_of_b(uint byte, uint i) {
    uint carry;
    const uint low = uaddCarry(B_BEGIN.x & ~3u, byte & ~3u, carry);
    return Words(uvec2(low, B_BEGIN.y + carry)).at[i];
}
#else
layout(std430, set = 0, binding = BIND_B) readonly restrict buffer b_pairs_block { uvec2 at[]; } b_pairs;
#ifdef VKGEMM_PAIRS
layout(std430, set = 0, binding = BIND_C) readonly restrict buffer b2_pairs_block { uvec2 at[]; } b2_pairs;
#endif
#define PAIR_OF_WORDS(name, begin, byte) name##_pairs.at[(begin.x + byte) / 8]
uvec2 pair_of_b(uint byte) { return OF_B(PAIR_OF_WORDS, byte); }
uint word_of_b(uint byte, uint i) { return OF_B(WORD_FROM, B_BEGIN.x / 4 + byte / 4 + i); }
#endif

// step_word is word i from byte `byte` on. The byte counts in B; or, if `held`, in a column's step, which begins at
// word `column` of shared memory, or of next[] if there are spans. chunk64_word is word q of chunk `part` of the block,
// or the two blocks, that begin at byte `begin`.
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

// Word q of chunk p of the blocks that begin at byte `from`.
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
