// SPDX-License-Identifier: MIT
// u4_g32 to u8_g128_f32: whole numbers of 4 or 8 bits with a scale and a zero point for each group of 32, 64 or 128,
// which begins with both, each f16 or f32. An element is scale * (code - zero point).
#undef GROUPED_TYPES  // each section includes this file
#define GROUPED_TYPES                                                                        \
    case VKGEMM_TYPE_U4_G32: case VKGEMM_TYPE_U4_G64: case VKGEMM_TYPE_U4_G128:              \
    case VKGEMM_TYPE_I8_G32: case VKGEMM_TYPE_I8_G64: case VKGEMM_TYPE_I8_G128:              \
    case VKGEMM_TYPE_U4_G32_F32: case VKGEMM_TYPE_U4_G64_F32: case VKGEMM_TYPE_U4_G128_F32:  \
    case VKGEMM_TYPE_I8_G32_F32: case VKGEMM_TYPE_I8_G64_F32: case VKGEMM_TYPE_I8_G128_F32:  \
    case VKGEMM_TYPE_U8_G32: case VKGEMM_TYPE_U8_G64: case VKGEMM_TYPE_U8_G128:              \
    case VKGEMM_TYPE_U8_G32_F32: case VKGEMM_TYPE_U8_G64_F32: case VKGEMM_TYPE_U8_G128_F32:
#if defined(FORMAT_LOAD8)
GROUPED_TYPES
    [[unroll]] for (uint q = 0; q < scale_words(type); ++q) x.scale[q] = word(of_a, w + q);
    words = code_bits(type) / 4;
    code = scale_words(type) + words * x.place;
    break;
#elif defined(FORMAT_DECODE4)
GROUPED_TYPES {
    const float zero = scale_and_zero(type, x).y;
    if (type >= VKGEMM_TYPE_U8_G32) return unsigned_bytes(low) - zero;
    if (code_bits(type) == 8) return signed_bytes(low) - zero;
    return small_numbers(spread(x.code[0] >> 16 * part), 15, 0) - zero;
}
#elif defined(FORMAT_SCALES)
GROUPED_TYPES
    return vec2(scale_and_zero(type, x).x, 1);
#endif
