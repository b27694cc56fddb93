// SPDX-License-Identifier: MIT
// nvfp4: 64 elements in 36 bytes: a scale of e4m3 for each 16, then codes of e2m1, of each 16 the first eight in the
// low halves of bytes.
#if defined(CHUNK64)
CHUNK64(NVFP4, 64, 36, 9, 4, 2, 0, 0, 0)
#elif defined(FORMAT_LOAD8)
case VKGEMM_TYPE_NVFP4:
    x.scale[0] = word(of_a, w);
    code = 1 + 2 * (x.place >> 1), words = 2;
    break;
#elif defined(FORMAT_DECODE4)
case VKGEMM_TYPE_NVFP4: return e2m1(low >> 4 * (x.place & 1));
#elif defined(FORMAT_SCALES)
case VKGEMM_TYPE_NVFP4: return vec2(16384, e4m3(x.scale[0] >> (8 * (x.place >> 1))));
#elif defined(CHUNK64_DECODE4)
case VKGEMM_TYPE_NVFP4: return e2m1_of(WORD(j + 1), h);
#elif defined(CHUNK64_SCALES)
case VKGEMM_TYPE_NVFP4: return vec2(16384, e4m3(WORD(0) >> (8 * g)));
#endif
