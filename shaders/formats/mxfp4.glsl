// SPDX-License-Identifier: MIT
// mxfp4: 32 elements in 17 bytes: a power of two of eight bits, then codes of e2m1, the first 16 in the low halves
// of bytes. Blocks begin between words, so the last word of 64 elements is the byte where their blocks begin.
#if defined(CHUNK64)
CHUNK64(MXFP4, 32, 17, 10, 8, 2, 0, 0, 0)
#elif defined(FORMAT_LOAD8)
case VKGEMM_TYPE_MXFP4:
    x.scale[0] = word(of_a, w);
    code = 2 * (x.place & 1);
    break;
#elif defined(FORMAT_DECODE4)
case VKGEMM_TYPE_MXFP4: return e2m1(word_between(low, next, x.past + 1, 1) >> 4 * (x.place >> 1 & 1));
#elif defined(FORMAT_SCALES)
case VKGEMM_TYPE_MXFP4: return e8m0_factors(x.scale[0] >> (8 * x.past));
#elif defined(CHUNK64_WORD)
if (IS(MXFP4) && q == 9) return begin;
#elif defined(CHUNK64_DECODE4)
case VKGEMM_TYPE_MXFP4: {
    const uint by = (WORD(WORDS_OF_64 - 1) & 2) + 1 + second;
    return e2m1_of(word_between(WORD(j), WORD(j + 1), by, 1), h);
}
#elif defined(CHUNK64_SCALES)
case VKGEMM_TYPE_MXFP4: {
    const uint by = (WORD(WORDS_OF_64 - 1) & 2) + 17 * g;
    const uint word = g == 0 ? WORD(0) : WORD(4);
    return e8m0_factors(word >> (8 * (by & 3)));
}
#endif
