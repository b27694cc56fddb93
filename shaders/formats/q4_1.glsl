// SPDX-License-Identifier: MIT
// q4_1: 32 elements in 20 bytes: a scale and an offset of f16, then codes as in q4_0. An element is scale * code +
// offset.
#if defined(CHUNK64)
CHUNK64(Q4_1, 32, 20, 10, 8, 1, 0, 1, 1)
#elif defined(FORMAT_LOAD8)
case VKGEMM_TYPE_Q4_1:
    x.scale[0] = word(of_a, w);
    code = 1 + 2 * (x.place & 1), words = 2;
    break;
#elif defined(FORMAT_DECODE4)
case VKGEMM_TYPE_Q4_1: {
    const vec2 dm = unpackHalf2x16(x.scale[0]);
    return small_numbers(low >> 4 * (x.place >> 1 & 1), 15, 0) * dm.x + dm.y;
}
#elif defined(CHUNK64_DECODE4)
case VKGEMM_TYPE_Q4_1: {
    const vec2 dm = unpackHalf2x16(WORD(5 * second));
    return nibbles_of(WORD(1 + j + second), h, 0) * dm.x + dm.y;
}
#elif defined(CHUNK64_CODES4)
case VKGEMM_TYPE_Q4_1: return WORD(1 + i + h) >> (4 * upper) & 0x0f0f0f0fu;
#elif defined(CHUNK64_DOT_SCALES)
case VKGEMM_TYPE_Q4_1: return unpackHalf2x16(WORD(5 * h)) * vec2(1, -1);
#endif
