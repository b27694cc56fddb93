// SPDX-License-Identifier: MIT
// The steps of the epilogue (common/epilogue.glsl has them for other sums) of f64 in integers. NaN stays NaN.
#ifndef VKGEMM_JOIN_INT8_STEPS_GLSL
#define VKGEMM_JOIN_INT8_STEPS_GLSL

const uvec2 LOG2_E = uvec2(0x652b82feu, 0x3ff71547u);
const uvec2 MINUS_LN2_FIRST = uvec2(0xfee00000u, 0xbfe62e42u);  // 32 bits, so that n times it is exact
const uvec2 MINUS_LN2_REST = uvec2(0x35793c76u, 0xbdea39efu);
const uvec2 ROUNDER = uvec2(0u, 0x43380000u);  // 1.5 * 2^52: added to a number, it leaves a whole one in the low word
const uvec2 LIMIT = uvec2(0u, 0x40977000u);    // 1500, which is beyond the range of exp
const uvec2 GELU_1 = uvec2(0x33d43651u, 0xbff98845u), GELU_3 = uvec2(0x2a4d8b4bu, 0xbfb2444fu);
const uint TERMS = 14;
const uvec2 TAYLOR[TERMS] = uvec2[TERMS](  // of exp: 1/13!, 1/12!, ..., 1, times 2^62
    uvec2(0x2c248c27u, 0x00000000u), uvec2(0x3ddb1dffu, 0x00000002u), uvec2(0xe64567f5u, 0x0000001au),
    uvec2(0xe4fb778au, 0x00000127u), uvec2(0xf1d2ab64u, 0x00000b8eu), uvec2(0x80680680u, 0x00006806u),
    uvec2(0x03403403u, 0x00034034u), uvec2(0x16c16c17u, 0x0016c16cu), uvec2(0x88888889u, 0x00888888u),
    uvec2(0xaaaaaaabu, 0x02aaaaaau), uvec2(0xaaaaaaabu, 0x0aaaaaaau), uvec2(0x00000000u, 0x20000000u),
    uvec2(0x00000000u, 0x40000000u), uvec2(0x00000000u, 0x40000000u));

uvec2 f64_clamped(uvec2 x, uvec2 low, uvec2 high) {
    const uvec2 at_least = f64_is_less(x, low) ? low : x;
    return f64_is_less(high, at_least) ? high : at_least;
}

// exp(x): x = n ln(2) + r with |r| < 0.347, and the Taylor series of exp(r), as in common/activated_f64.glsl, in whole
// numbers: |r| times 2^64, and sums times 2^62, which are positive. It is off by at most 1 unit in the last place.
uvec2 f64_exp(uvec2 x) {
    const uvec2 bounded = f64_clamped(x, f64_negated(LIMIT), LIMIT);
    const uvec2 shifted = f64_plus(f64_times(bounded, LOG2_E), ROUNDER);
    const uvec2 n = f64_plus(shifted, f64_negated(ROUNDER));
    const uvec2 r = f64_plus(f64_plus(bounded, f64_times(n, MINUS_LN2_FIRST)), f64_times(n, MINUS_LN2_REST));
    const int shift = f64_exponent(r) - F64_BIAS + 64;
    const uvec2 significand = f64_significand(r);
    uvec2 size = shifted_left(significand, uint(max(shift, 0)));
    if (shift < 0) size = shifted_right(significand, uint(min(-shift, 63)));
    uvec2 sum = TAYLOR[0];
    for (uint i = 1; i < TERMS; ++i) {
        uvec2 product = times(sum, size).zw;
        if (r.y >= F64_SIGN) product = uvec2(-product.x, ~product.y + (product.x == 0 ? 1 : 0));
        sum = TAYLOR[i] + product;
        sum.y += sum.x < product.x ? 1 : 0;
    }
    return f64_is_nan(x) ? x : f64_rounded(0, uvec4(sum, 0, 0), int(shifted.x) - 62);
}

// x / (1 + exp(-x)), and GELU in the same form.
uvec2 f64_sigmoid_times(uvec2 x, bool gelu) {
    uvec2 power = f64_negated(x);
    if (gelu) power = f64_times(x, f64_plus(f64_times(f64_times(x, x), GELU_3), GELU_1));
    return f64_over(x, f64_plus(f64_exp(power), ONE));
}

// The steps that depend on the value alone. The bounds of a clamp are in batch_c and batch_d.
uvec2 activated(uint step, uvec2 x) {
    if (f64_is_nan(x)) return x;
    switch (step) {
        case VKGEMM_STEP_RELU: return f64_is_less(x, uvec2(0)) ? uvec2(0) : x;
        case VKGEMM_STEP_GELU:
        case VKGEMM_STEP_SILU: return f64_sigmoid_times(x, step == VKGEMM_STEP_GELU);
        case VKGEMM_STEP_LEAKY_RELU: return f64_is_less(uvec2(0), x) ? x : f64_times(f64_of_f32(SLOPE), x);
        case VKGEMM_STEP_CLAMP: return f64_clamped(x, f64_of_f32(args.batch_c), f64_of_f32(args.batch_d));
    }
    return x;
}

uvec2 bounded_by_scale(uint line, uvec2 x) {
    const uvec2 low = AT(scale, args.scale.x, 2 * line), high = AT(scale, args.scale.x, 2 * line + 1);
    return f64_is_nan(x) ? x : f64_clamped(x, low, high);
}

uvec2 after_step(uint step, uint row, uint col, uvec2 x) {
    const uint at = row * args.ldd + col;  // of the residual, too
    switch (step) {
        case VKGEMM_STEP_BIAS_ROW: return f64_plus(x, AT(bias, args.bias.x, row));
        case VKGEMM_STEP_BIAS_COL: return f64_plus(x, AT(bias, args.bias.x, col));
        case VKGEMM_STEP_SCALE_ROW: return f64_times(x, AT(scale, args.scale.x, row));
        case VKGEMM_STEP_SCALE_COL: return f64_times(x, AT(scale, args.scale.x, col));
        case VKGEMM_STEP_SCALE_ALL: return f64_times(x, AT(scale, args.scale.x, 0));
        case VKGEMM_STEP_CLAMP_ROW: return bounded_by_scale(row, x);
        case VKGEMM_STEP_CLAMP_COL: return bounded_by_scale(col, x);
        case VKGEMM_STEP_RESIDUAL: return f64_plus(x, AT(residual, args.residual.x, at));
        case VKGEMM_STEP_DRELU: {
            const uvec2 y = AT(residual, args.residual.x, at);
            return f64_is_nan(y) || f64_is_less(uvec2(0), y) ? x : uvec2(0);
        }
    }
    const uint of_gate = step == VKGEMM_STEP_GATE_RELU   ? VKGEMM_STEP_RELU
                         : step == VKGEMM_STEP_GATE_GELU ? VKGEMM_STEP_GELU
                         : step == VKGEMM_STEP_GATE_SILU ? VKGEMM_STEP_SILU : VKGEMM_STEP_NONE;
    const bool is_gate = of_gate != VKGEMM_STEP_NONE;
    uvec2 y = x;
    if (is_gate) y = AT(residual, args.residual.x, at);
    y = activated(is_gate ? of_gate : step, y);
    return is_gate ? f64_times(x, y) : y;
}

#endif
