// SPDX-License-Identifier: MIT
// The elements of a matrix as words of two. These are macros, because a matrix that is passed to a function is copied.
// `first`: of the eight elements that 16 bytes have.
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
#if defined(VKGEMM_EMULATED) || defined(TYPE_A_IS_I8)  // no invocation holds eight elements; bytes are never paired
#define BITS_OF(m, first) uvec4(0)
#define SET_MATRIX(m, first, bits)
#else
#define BITS_OF(m, first)                                                            \
    uvec4(WORD_OF(m[first], m[first + 1]), WORD_OF(m[first + 2], m[first + 3]),      \
          WORD_OF(m[first + 4], m[first + 5]), WORD_OF(m[first + 6], m[first + 7]))

// Sets eight of the elements that an invocation has of matrix m.
#define SET_MATRIX(m, first, bits)           \
    {                                        \
        const UNIT_PAIR p = PAIR_OF(bits.x); \
        const UNIT_PAIR q = PAIR_OF(bits.y); \
        const UNIT_PAIR r = PAIR_OF(bits.z); \
        const UNIT_PAIR s = PAIR_OF(bits.w); \
        m[first] = p.x;                      \
        m[first + 1] = p.y;                  \
        m[first + 2] = q.x;                  \
        m[first + 3] = q.y;                  \
        m[first + 4] = r.x;                  \
        m[first + 5] = r.y;                  \
        m[first + 6] = s.x;                  \
        m[first + 7] = s.y;                  \
    }
#endif

#endif
