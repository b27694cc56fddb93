// SPDX-License-Identifier: MIT
// q5_0: 32 elements in 22 bytes: a scale of f16, 32 fifth bits, then the other four as in q4_0. An element is
// scale * (code - 16).
#if defined(CHUNK64)
CHUNK64(Q5_0, 32, 22, 11, 8, 1, 16, 0, 1)
#elif defined(FORMAT_LOAD8)
case VKGEMM_TYPE_Q5_0:
    x.scale[0] = word(of_a, w), x.scale[1] = word(of_a, w + 1);
    code = 1 + 2 * (x.place & 1);
    break;
#elif defined(FORMAT_DECODE4)
case VKGEMM_TYPE_Q5_0: {
    const uint nibbles = word_between(low, next, x.past + 2, 2) >> 4 * (x.place >> 1 & 1);
    const uint bits = word_between(x.scale[0], x.scale[1], x.past + 2, 2);
    return small_numbers(nibbles & 0x0f0f0f0fu | fifth_bits(bits, 2 * x.place + part), 31, 16);
}
#elif defined(FORMAT_SCALES)
case VKGEMM_TYPE_Q5_0: return vec2(partat(x.scale[0], x.past), 1);
#elif defined(CHUNK64_DECODE4)
case VKGEMM_TYPE_Q5_0: {
    const uint codes = second == 0 ? between(WORD(1 + j), WORD(2 + j)) : WORD(j + 3);
    const uint fifth = second == 0 ? between(WORD(0), WORD(1)) : WORD(6);
    return small_numbers(codes >> (4 * h) & 0x0f0f0f0fu | fifth_bits(fifth, j % 4 + 4 * h), 31, 16);
}
#elif defined(CHUNK64_SCALES)
case VKGEMM_TYPE_Q5_0: return vec2(g == 0 ? unpackHalf2x16(WORD(0)).x : unpackHalf2x16(WORD(5)).y, 1);
#elif defined(CHUNK64_CODES4)
case VKGEMM_TYPE_Q5_0: {
    const uint codes = h == 0 ? between(WORD(1 + i), WORD(2 + i)) : WORD(3 + i);
    const uint fifth = h == 0 ? between(WORD(0), WORD(1)) : WORD(6);
    return codes >> (4 * upper) & 0x0f0f0f0fu | fifth_bits(fifth, j);
}
#elif defined(CHUNK64_DOT_SCALES)
case VKGEMM_TYPE_Q5_0: return vec2(h == 0 ? unpackHalf2x16(WORD(0)).x : unpackHalf2x16(WORD(5)).y, 0);
#endif
