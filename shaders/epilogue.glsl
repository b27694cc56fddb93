// SPDX-License-Identifier: MIT
// How a sum becomes a value of D: alpha, beta and C, then up to four steps. gemm.glsl includes this. Functions have one
// return, at their end, because the optimiser makes a loop of any other when it copies them to where they are called.

// The steps that depend on the value alone. NaN stays NaN, which min, max and clamp do not promise.
float activated(uint step, float x) {
    float y = x;
    switch (step) {
        case VKGEMM_STEP_RELU: y = isnan(x) ? x : max(x, 0.0); break;
        case VKGEMM_STEP_GELU:  // x/2 (1 + tanh(u)) = x / (1 + exp(-2u)), 2u = 2 sqrt(2/pi) (x + 0.044715 x^3); as exp2
            y = x / (1.0 + exp2(x * (-2.3022081985 - 0.1029432396 * (x * x))));
            break;
        case VKGEMM_STEP_SILU: y = x / (1.0 + exp2(-1.4426950409 * x)); break;
        case VKGEMM_STEP_LEAKY_RELU: y = x > 0 ? x : uintBitsToFloat(SLOPE) * x; break;
        case VKGEMM_STEP_CLAMP:
            y = isnan(x) ? x : clamp(x, uintBitsToFloat(args.clamp_lo), uintBitsToFloat(args.clamp_hi));
    }
    return y;
}
#ifdef SUMS_IN_F64
#include "activated_f64.glsl"
#endif
int activated(uint step, int x) { return step == VKGEMM_STEP_RELU ? max(x, 0) : x; }

out_t after_step(uint step, uint row, uint col, out_t x) {
    if (step == VKGEMM_STEP_BIAS_ROW || step == VKGEMM_STEP_BIAS_COL)
        x += bias_at(step == VKGEMM_STEP_BIAS_ROW ? row : col);
    else if (step == VKGEMM_STEP_SCALE_ROW || step == VKGEMM_STEP_SCALE_COL || step == VKGEMM_STEP_SCALE_ALL)
        x *= scale_at(step == VKGEMM_STEP_SCALE_ROW ? row : step == VKGEMM_STEP_SCALE_COL ? col : 0);
    else if (step == VKGEMM_STEP_RESIDUAL) x += residual_at(batch * args.batch_d + row * args.ldd + col);
    else x = activated(step, x);
    return x;
}

// alpha times the sum. If k is 0 the product is 0, whatever alpha is.
#ifdef SCALED_D
float times_alpha(uint row, uint col, int sum) {
    const bool whole_bias = FORMAT_BIAS == VKGEMM_TYPE_I32;  // which is the first step; bias_at gives 0 for it
    if (whole_bias) sum += ONE_FROM(bias_i32, args.bias, STEP_0 == VKGEMM_STEP_BIAS_ROW ? row : col);
    return args.k == 0 && !whole_bias ? 0 : FACTOR(alpha) * float(sum);
}
#else
acc_t times_alpha(uint row, uint col, acc_t sum) { return args.k == 0 ? acc_t(0) : FACTOR(alpha) * sum; }
#endif

// The element of D at (row, col), which must be inside. If beta is 0, C is not read, because it may hold NaN.
out_t finished(uint row, uint col, acc_t sum) {
    out_t x = times_alpha(row, col, sum);
    const out_t beta = FACTOR(beta);
    if (USE_C != 0 && beta != out_t(0))
        x += beta * c_at(batch * args.batch_c + (TRANS_C != 0 ? col * args.ldc + row : row * args.ldc + col));
    x = after_step(STEP_0, row, col, x);
    x = after_step(STEP_1, row, col, x);
    x = after_step(STEP_2, row, col, x);
    return after_step(STEP_3, row, col, x);
}
