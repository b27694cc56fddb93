// SPDX-License-Identifier: MIT
// A matrix as 16 bytes of each invocation, and back. Which elements an invocation holds is the driver's secret; that it
// holds the same ones of every matrix of one kind is all that is used. Where a driver's invocations hold elements twice
// (length() tells), matrices lie in the workspace row by row instead.
#ifndef VKGEMM_WOVEN_GLSL
#define VKGEMM_WOVEN_GLSL

#define f16_pair(m, e) packFloat2x16(f16vec2((m)[e], (m)[(e) + 1]))
#define f16_unpair(m, e, word) { const f16vec2 two = unpackFloat2x16(word); (m)[e] = two.x; (m)[(e) + 1] = two.y; }
#define bf16_pair(m, e) packUint2x16(bfloat16BitsToUintEXT(bf16vec2((m)[e], (m)[(e) + 1])))
#define bf16_unpair(m, e, word) {                                       \
    const bf16vec2 two = uintBitsToBFloat16EXT(unpackUint2x16(word));   \
    (m)[e] = two.x; (m)[(e) + 1] = two.y; }

#define PAIR(m, e) VKGEMM_PASTE(TYPE_A, _pair)(m, e)
#define UNPAIR(m, e, word) VKGEMM_PASTE(TYPE_A, _unpair)(m, e, word)
#define BITS_OF(m) uvec4(PAIR(m, 0), PAIR(m, 2), PAIR(m, 4), PAIR(m, 6))
#define SPREAD(m, bits) UNPAIR(m, 0, (bits).x) UNPAIR(m, 2, (bits).y) UNPAIR(m, 4, (bits).z) UNPAIR(m, 6, (bits).w)

#endif
