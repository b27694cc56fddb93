// SPDX-License-Identifier: MIT
// q5_1: 32 elements in 24 bytes: a scale and an offset of f16, 32 fifth bits, then the other four as in q4_0. An
// element is scale * code + offset.
#if defined(CHUNK64)
CHUNK64(Q5_1, 32, 24, 12, 8, 1, 0, 1, 1)
#elif defined(FORMAT_LOAD8)
case VKGEMM_TYPE_Q5_1:
    x.scale[0] = word(of_a, w), x.scale[1] = word(of_a, w + 1);
    code = 2 + 2 * (x.place & 1), words = 2;
    break;
#elif defined(FORMAT_DECODE4)
case VKGEMM_TYPE_Q5_1: {
    const uint nibbles = low >> 4 * (x.place >> 1 & 1) & 0x0f0f0f0fu;
    const vec2 dm = unpackHalf2x16(x.scale[0]);
    return small_numbers(nibbles | fifth_bits(x.scale[1], 2 * x.place + part), 31, 0) * dm.x + dm.y;
}
#elif defined(CHUNK64_DECODE4)
case VKGEMM_TYPE_Q5_1: {
    const uint codes = WORD(2 + j + 2 * second) >> (4 * h) & 0x0f0f0f0fu;
    const vec2 dm = unpackHalf2x16(WORD(6 * second));
    return small_numbers(codes | fifth_bits(WORD(1 + 6 * second), j % 4 + 4 * h), 31, 0) * dm.x + dm.y;
}
#elif defined(CHUNK64_CODES4)
case VKGEMM_TYPE_Q5_1: return WORD(2 + i + 2 * h) >> (4 * upper) & 0x0f0f0f0fu | fifth_bits(WORD(1 + 6 * h), j);
#elif defined(CHUNK64_DOT_SCALES)
case VKGEMM_TYPE_Q5_1: return unpackHalf2x16(WORD(6 * h)) * vec2(1, -1);
#endif
