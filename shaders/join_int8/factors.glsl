// SPDX-License-Identifier: MIT
// alpha, beta and C, in integers, for the passes that may store D. Both have C at BIND_C.
#ifndef VKGEMM_JOIN_INT8_FACTORS_GLSL
#define VKGEMM_JOIN_INT8_FACTORS_GLSL
#include "common/f64_bits.glsl"

WORDS(c, uvec2, 8, BIND_C, )

const uvec2 ONE = uvec2(0, 0x3ff00000);

// alpha times an element of the product, and beta times that of C. The high words of both are in clamp_or_scalars.
uvec2 with_factors(uvec2 x, uint row, uint col) {
    const uvec2 alpha = uvec2(args.alpha, args.clamp_or_scalars.x), beta = uvec2(args.beta, args.clamp_or_scalars.y);
    if (args.k != 0 && alpha != ONE) x = f64_times(alpha, x);
    if (USE_C != 0 && !f64_is_zero(beta)) {
        uvec2 c = AT(c, args.c.x, TRANS_C != 0 ? col * args.ldc + row : row * args.ldc + col);
        if (beta != ONE) c = f64_times(beta, c);
        x = f64_plus(x, c);
    }
    return x;
}

#endif
