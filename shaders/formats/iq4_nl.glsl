// SPDX-License-Identifier: MIT
// iq4_nl: 32 elements in 18 bytes, as q4_0, with a table of sixteen values in place of code - 8.
#if defined(CHUNK64)
CHUNK64(IQ4_NL, 32, 18, 9, 8, 1, 0, 0, 0)
#elif defined(FORMAT_LOAD8)
case VKGEMM_TYPE_IQ4_NL:
    x.scale[0] = word(of_a, w);
    code = 2 * (x.place & 1);
    break;
#elif defined(FORMAT_DECODE4)
case VKGEMM_TYPE_IQ4_NL: return iq4_nl_bytes(word_between(low, next, x.past + 2, 2) >> 4 * (x.place >> 1 & 1));
#elif defined(FORMAT_SCALES)
case VKGEMM_TYPE_IQ4_NL: return vec2(partat(x.scale[0], x.past), 1);
#elif defined(CHUNK64_DECODE4)
case VKGEMM_TYPE_IQ4_NL: return iq4_nl_bytes((j < 4 ? between(WORD(j), WORD(j + 1)) : WORD(j + 1)) >> (4 * h));
#elif defined(CHUNK64_SCALES)
case VKGEMM_TYPE_IQ4_NL: return vec2(g == 0 ? unpackHalf2x16(WORD(0)).x : unpackHalf2x16(WORD(4)).y, 1);
#endif
