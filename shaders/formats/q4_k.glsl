// SPDX-License-Identifier: MIT
// q4_k: 256 elements in 144 bytes: two scales of f16, a scale and an offset of six bits for each 32 elements in twelve
// bytes, then codes of four bits: of each 64, the first 32 are in the low halves of bytes. An element is
// scale * code - offset.
#if defined(CHUNK64)
CHUNK64(Q4_K, 256, 144, 12, 8, 1, 0, 1, 1)
#elif defined(FORMAT_LOAD8)
case VKGEMM_TYPE_Q4_K:
    x.high[2] = word(of_a, w);
    [[unroll]] for (uint q = 0; q < 3; ++q) x.scale[q] = word(of_a, w + 1 + q);
    code = 4 + 8 * (x.place >> 3) + 2 * (x.place & 3), words = 2;
    break;
#elif defined(FORMAT_DECODE4)
case VKGEMM_TYPE_Q4_K: {
    const vec2 scales = k_scales(x.high[2], uvec3(x.scale[0], x.scale[1], x.scale[2]), x.place / 4);
    return small_numbers(low >> 4 * (x.place >> 2 & 1), 15, 0) * scales.x - scales.y;
}
#elif defined(CHUNK64_WORD)
if (IS(Q4_K)) return q < 4 ? step_word(held, column, begin, q) : step_word(held, column, begin + 32 * part, q);
#elif defined(CHUNK64_DECODE4)
case VKGEMM_TYPE_Q4_K: {
    const vec2 scales = k_scales(WORD(0), uvec3(WORD(1), WORD(2), WORD(3)), 2 * (p & 3) + h);
    return nibbles_of(WORD(4 + j), h, 0) * scales.x - scales.y;
}
#elif defined(CHUNK64_CODES4)
case VKGEMM_TYPE_Q4_K: return WORD(4 + j) >> (4 * h) & 0x0f0f0f0fu;
#elif defined(CHUNK64_DOT_SCALES)
case VKGEMM_TYPE_Q4_K: return k_scales(WORD(0), uvec3(WORD(1), WORD(2), WORD(3)), 2 * (p & 3) + h);
#endif
