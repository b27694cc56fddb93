// SPDX-License-Identifier: MIT
// q4_0: 32 elements in 18 bytes: a scale of f16, then codes of four bits, the first 16 in the low halves of bytes. An
// element is scale * (code - 8).
#if defined(CHUNK64)
CHUNK64(Q4_0, 32, 18, 9, 8, 1, 8, 0, 1)
#elif defined(FORMAT_LOAD8)
case VKGEMM_TYPE_Q4_0:
    x.scale[0] = word(of_a, w);
    code = 2 * (x.place & 1);
    break;
#elif defined(FORMAT_DECODE4)
case VKGEMM_TYPE_Q4_0:
    return small_numbers(word_between(low, next, x.past + 2, 2) >> 4 * (x.place >> 1 & 1), 15, 8);
#elif defined(FORMAT_SCALES)
case VKGEMM_TYPE_Q4_0: return vec2(partat(x.scale[0], x.past), 1);
#elif defined(CHUNK64_DECODE4)
case VKGEMM_TYPE_Q4_0: return nibbles_of(j < 4 ? between(WORD(j), WORD(j + 1)) : WORD(j + 1), h, 8);
#elif defined(CHUNK64_SCALES)
case VKGEMM_TYPE_Q4_0: return vec2(g == 0 ? unpackHalf2x16(WORD(0)).x : unpackHalf2x16(WORD(4)).y, 1);
#elif defined(CHUNK64_CODES4)
case VKGEMM_TYPE_Q4_0: return (h == 0 ? between(WORD(i), WORD(i + 1)) : WORD(i + 1)) >> (4 * upper) & 0x0f0f0f0fu;
#elif defined(CHUNK64_DOT_SCALES)
case VKGEMM_TYPE_Q4_0: return vec2(h == 0 ? unpackHalf2x16(WORD(0)).x : unpackHalf2x16(WORD(4)).y, 0);
#endif
