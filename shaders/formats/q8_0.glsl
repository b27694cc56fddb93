// SPDX-License-Identifier: MIT
// q8_0: 32 elements in 34 bytes: a scale of f16, then a code of eight bits for each.
#if defined(CHUNK64)
CHUNK64(Q8_0, 32, 34, 17, 8, 1, 0, 0, 1)
#elif defined(FORMAT_LOAD8)
case VKGEMM_TYPE_Q8_0:
    x.scale[0] = word(of_a, w);
    code = 2 * x.place;
    break;
#elif defined(FORMAT_DECODE4)
case VKGEMM_TYPE_Q8_0: return signed_bytes(word_between(low, next, x.past + 2, 2));
#elif defined(FORMAT_SCALES)
case VKGEMM_TYPE_Q8_0: return vec2(partat(x.scale[0], x.past), 1);
#elif defined(CHUNK64_DECODE4)
case VKGEMM_TYPE_Q8_0: return signed_bytes(t < 8 ? between(WORD(t), WORD(t + 1)) : WORD(t + 1));
#elif defined(CHUNK64_SCALES)
case VKGEMM_TYPE_Q8_0: return vec2(g == 0 ? unpackHalf2x16(WORD(0)).x : unpackHalf2x16(WORD(8)).y, 1);
#elif defined(CHUNK64_CODES4)
case VKGEMM_TYPE_Q8_0: return h == 0 ? between(WORD(j), WORD(j + 1)) : WORD(9 + j);
#elif defined(CHUNK64_DOT_SCALES)
case VKGEMM_TYPE_Q8_0: return vec2(h == 0 ? unpackHalf2x16(WORD(0)).x : unpackHalf2x16(WORD(8)).y, 0);
#endif
