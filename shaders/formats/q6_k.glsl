// SPDX-License-Identifier: MIT
// q6_k: 256 elements in 210 bytes: the low four bits of the codes, then the high two, a scale of eight bits for each 16
// elements, and a scale of f16. An element is scale * scale * (code - 32). Blocks begin between words, so the last word
// of 64 elements is the byte where their block begins.
#if defined(CHUNK64)
CHUNK64(Q6_K, 256, 210, 22, 4, 1, 0, 0, 1)
#elif defined(FORMAT_LOAD8)
case VKGEMM_TYPE_Q6_K: {
    const uint byte = 192 + x.past + (x.place >> 1 & 1) + (x.place >> 2 << 1);
    x.scale[0] = word(of_a, w + 52);
    x.scale[1] = word(of_a, w + byte / 4);
    const uint two = 32 + 8 * (x.place >> 4) + 2 * (x.place & 3);
    [[unroll]] for (uint q = 0; q < 3; ++q) x.high[q] = word(of_a, w + two + q);
    code = 16 * (x.place >> 4) + 8 * (x.place >> 2 & 1) + 2 * (x.place & 3);
    break;
}
#elif defined(FORMAT_DECODE4)
case VKGEMM_TYPE_Q6_K: {
    const uint nibbles = word_between(low, next, x.past, 2) >> 4 * (x.place >> 3 & 1);
    const uint lower = mix(x.high[0], x.high[1], second), upper = mix(x.high[1], x.high[2], second);
    const uint two = word_between(lower, upper, x.past, 2) >> (2 * (x.place >> 2 & 3));
    return small_numbers(nibbles & 0x0f0f0f0fu | (two & 0x03030303u) << 4, 63, 32);
}
#elif defined(FORMAT_SCALES)
case VKGEMM_TYPE_Q6_K: {
    const uint byte = x.past + (x.place >> 1 & 1) + (x.place >> 2 << 1);  // of sixteen, from scale[1]'s own on
    return vec2(partat(x.scale[0], x.past) * bitfieldExtract(int(x.scale[1]), 8 * int(byte & 3), 8), 1);
}
#elif defined(CHUNK64_WORD)
if (IS(Q6_K)) {  // codes, high bits, scales, the scale of f16, and where the block begins
    if (q < 9) return step_word(held, column, begin + 32 * part, q);
    if (q < 18) return step_word(held, column, begin + 32 * (part / 2), 32 + q - 9);
    if (q < 20) return step_word(held, column, begin + 192 + 8 * (part / 2) + 2 * (part & 1), q - 18);
    return q == 20 ? step_word(held, column, begin, 52) : begin;
}
#elif defined(CHUNK64_DECODE4)
case VKGEMM_TYPE_Q6_K: {
    const uint begin = WORD(WORDS_OF_64 - 1);
    const uint codes = between(WORD(j), WORD(j + 1), begin) >> (4 * h);
    const uint two = between(WORD(9 + j), WORD(10 + j), begin) >> (2 * (p & 1) + 4 * h);
    return small_numbers(codes & 0x0f0f0f0fu | (two & 0x03030303u) << 4, 63, 32);
}
#elif defined(CHUNK64_SCALES)
case VKGEMM_TYPE_Q6_K: {
    const uint begin = WORD(WORDS_OF_64 - 1);
    const uint both = WORD(18 + g / 2) >> (8 * ((begin & 2) + 2 * (p & 1) & 3) + 8 * (g & 1));
    return vec2(partat(WORD(20), begin & 2) * bitfieldExtract(int(both), 0, 8), 1);
}
#elif defined(CHUNK64_CODES4)
case VKGEMM_TYPE_Q6_K: {  // code - 32 without a borrow
    const uint begin = WORD(WORDS_OF_64 - 1);
    const uint two = between(WORD(9 + j), WORD(10 + j), begin) >> (2 * (p & 1) + 4 * h) & 0x03030303u;
    const uint low = between(WORD(j), WORD(j + 1), begin) >> (4 * h) & 0x0f0f0f0fu;
    return (low | two << 4) + 0x60606060u ^ 0x80808080u;
}
#elif defined(CHUNK64_DOT_SCALES)
case VKGEMM_TYPE_Q6_K: {
    const uint begin = WORD(WORDS_OF_64 - 1);
    const int both = int(WORD(18 + h) >> (8 * ((begin & 2) + 2 * (p & 1) & 3)));
    return partat(WORD(20), begin & 2) * vec2(bitfieldExtract(both, 0, 8), bitfieldExtract(both, 8, 8));
}
#endif
