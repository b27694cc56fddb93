// SPDX-License-Identifier: MIT
// Types whose blocks are single elements. Eight of them may begin within a word.
#if defined(DECODED)  // the types of this file, for C++
DECODED(F32)
DECODED(F16)
DECODED(BF16)
DECODED(I8)
DECODED(U8)
DECODED(E4M3)
DECODED(E5M2)
#elif defined(FORMAT_LOAD8)
case VKGEMM_TYPE_F32:
    words = 5;
    [[unroll]] for (uint q = 0; q < 3; ++q) x.high[q] = word(of_a, w + 5 + q);
    break;
case VKGEMM_TYPE_F16:
case VKGEMM_TYPE_BF16:
    words = 4;
    x.code[4] = word(of_a, w + (x.past == 0 ? 3 : 4));
    break;
case VKGEMM_TYPE_I8:
case VKGEMM_TYPE_U8:
case VKGEMM_TYPE_E4M3:
case VKGEMM_TYPE_E5M2:
    words = 2;
    x.code[2] = word(of_a, w + (x.past == 0 ? 1 : 2));
    break;
#elif defined(FORMAT_DECODE4)
case VKGEMM_TYPE_F32:
    return uintBitsToFloat(part == 0 ? uvec4(x.code[0], x.code[1], x.code[2], x.code[3])
                                     : uvec4(x.code[4], x.high[0], x.high[1], x.high[2]));
case VKGEMM_TYPE_F16:
case VKGEMM_TYPE_BF16: {
    const uvec3 three = mix(uvec3(x.code[0], x.code[1], x.code[2]), uvec3(x.code[2], x.code[3], x.code[4]),
                            bvec3(second));
    const uint xy = word_between(three.x, three.y, x.past, 2), zw = word_between(three.y, three.z, x.past, 2);
    if (type == VKGEMM_TYPE_F16) return vec4(unpackHalf2x16(xy), unpackHalf2x16(zw));
    return uintBitsToFloat(uvec4(xy << 16, xy & 0xffff0000u, zw << 16, zw & 0xffff0000u));
}
case VKGEMM_TYPE_I8: return signed_bytes(word_between(low, next, x.past, 1));
case VKGEMM_TYPE_U8: return unsigned_bytes(word_between(low, next, x.past, 1));
case VKGEMM_TYPE_E4M3: return e4m3_bytes(word_between(low, next, x.past, 1));
case VKGEMM_TYPE_E5M2: return e5m2_bytes(word_between(low, next, x.past, 1));
#endif
