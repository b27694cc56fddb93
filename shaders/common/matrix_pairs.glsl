// SPDX-License-Identifier: MIT
// The elements of a matrix as words of two. These are macros, because a matrix that is passed to a function is copied.
#ifndef VKGEMM_COOPMAT_PAIRS_GLSL
#define VKGEMM_COOPMAT_PAIRS_GLSL

#define f16_pair f16vec2
#define f16_pair_of(word) unpackFloat2x16(word)
#define f16_word(x, y) packFloat2x16(f16vec2(x, y))
#define bf16_pair bf16vec2
#define bf16_pair_of(word) uintBitsToBFloat16EXT(unpackUint2x16(word))
#define bf16_word(x, y) packUint2x16(bfloat16BitsToUintEXT(bf16vec2(x, y)))
#define UNIT_PAIR VKGEMM_PASTE(UNIT_A, _pair)
#define PAIR_OF(word) VKGEMM_PASTE(UNIT_A, _pair_of)(word)
#define WORD_OF(x, y) VKGEMM_PASTE(UNIT_A, _word)(x, y)
#ifdef VKGEMM_EMULATED  // no invocation holds eight elements
#define BITS_OF(m) uvec4(0)
#define SET_MATRIX(m, bits)
#else
#define BITS_OF(m) uvec4(WORD_OF(m[0], m[1]), WORD_OF(m[2], m[3]), WORD_OF(m[4], m[5]), WORD_OF(m[6], m[7]))

// Sets the eight elements that an invocation has of matrix m.
#define SET_MATRIX(m, bits)                  \
    {                                        \
        const UNIT_PAIR p = PAIR_OF(bits.x); \
        const UNIT_PAIR q = PAIR_OF(bits.y); \
        const UNIT_PAIR r = PAIR_OF(bits.z); \
        const UNIT_PAIR s = PAIR_OF(bits.w); \
        m[0] = p.x;                          \
        m[1] = p.y;                          \
        m[2] = q.x;                          \
        m[3] = q.y;                          \
        m[4] = r.x;                          \
        m[5] = r.y;                          \
        m[6] = s.x;                          \
        m[7] = s.y;                          \
    }
#endif

#endif
