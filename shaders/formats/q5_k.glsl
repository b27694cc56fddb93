// SPDX-License-Identifier: MIT
// q5_k: 256 elements in 176 bytes: as q4_k, with 32 bytes of fifth bits before the codes: bit i of them is of the i-th
// 32 elements.
#if defined(CHUNK64)
CHUNK64(Q5_K, 256, 176, 20, 8, 1, 0, 1, 1)
#elif defined(FORMAT_LOAD8)
case VKGEMM_TYPE_Q5_K:
    x.high[2] = word(of_a, w);
    [[unroll]] for (uint q = 0; q < 3; ++q) x.scale[q] = word(of_a, w + 1 + q);
    [[unroll]] for (uint q = 0; q < 2; ++q) x.high[q] = word(of_a, w + 4 + 2 * (x.place & 3) + q);
    code = 12 + 8 * (x.place >> 3) + 2 * (x.place & 3), words = 2;
    break;
#elif defined(FORMAT_DECODE4)
case VKGEMM_TYPE_Q5_K: {
    const vec2 scales = k_scales(x.high[2], uvec3(x.scale[0], x.scale[1], x.scale[2]), x.place / 4);
    const uint nibbles = low >> 4 * (x.place >> 2 & 1) & 0x0f0f0f0fu;
    const uint fifth = mix(x.high[0], x.high[1], second) >> (x.place / 4) & 0x01010101u;
    return small_numbers(nibbles | fifth << 4, 31, 0) * scales.x - scales.y;
}
#elif defined(CHUNK64_WORD)
if (IS(Q5_K)) return q < 12 ? step_word(held, column, begin, q) : step_word(held, column, begin + 32 * part, q);
#elif defined(CHUNK64_DECODE4)
case VKGEMM_TYPE_Q5_K: {
    const uint sub = 2 * (p & 3) + h;
    const vec2 scales = k_scales(WORD(0), uvec3(WORD(1), WORD(2), WORD(3)), sub);
    const uint codes = WORD(12 + j), high = WORD(4 + j);
    return small_numbers(codes >> (4 * h) & 0x0f0f0f0fu | (high >> sub & 0x01010101u) << 4, 31, 0) * scales.x -
           scales.y;
}
#elif defined(CHUNK64_CODES4)
case VKGEMM_TYPE_Q5_K:
    return WORD(12 + j) >> (4 * h) & 0x0f0f0f0fu | (WORD(4 + j) >> (2 * (p & 3) + h) & 0x01010101u) << 4;
#elif defined(CHUNK64_DOT_SCALES)
case VKGEMM_TYPE_Q5_K: return k_scales(WORD(0), uvec3(WORD(1), WORD(2), WORD(3)), 2 * (p & 3) + h);
#endif
