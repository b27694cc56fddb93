// SPDX-License-Identifier: MIT
// How a sum becomes a value of D: alpha, beta and C, then up to four steps. gemm.glsl includes this.

// The steps that depend on the value alone. NaN stays NaN, which min, max and clamp do not promise.
float activated(uint step, float x) {
    switch (step) {
        case VKGEMM_STEP_RELU: return isnan(x) ? x : max(x, 0.0);
        case VKGEMM_STEP_GELU:  // x/2 (1 + tanh(u)) = x / (1 + exp(-2u)), 2u = 2 sqrt(2/pi) (x + 0.044715 x^3); as exp2
            return x / (1.0 + exp2(x * (-2.3022081985 - 0.1029432396 * (x * x))));
        case VKGEMM_STEP_SILU: return x / (1.0 + exp2(-1.4426950409 * x));
        case VKGEMM_STEP_CLAMP:
            return isnan(x) ? x : clamp(x, uintBitsToFloat(args.clamp_lo), uintBitsToFloat(args.clamp_hi));
    }
    return x;
}
#ifdef SUMS_IN_F64
#include "activated_f64.glsl"
#endif
int activated(uint step, int x) { return step == VKGEMM_STEP_RELU ? max(x, 0) : x; }

acc_t after_step(uint step, uint row, uint col, acc_t x) {
    switch (step) {
        case VKGEMM_STEP_NONE: return x;
        case VKGEMM_STEP_BIAS_ROW: return x + LOAD(TYPE_D, ONE(bias, row));
        case VKGEMM_STEP_BIAS_COL: return x + LOAD(TYPE_D, ONE(bias, col));
        case VKGEMM_STEP_SCALE_ROW: return x * LOAD(TYPE_D, ONE(scale, row));
        case VKGEMM_STEP_SCALE_COL: return x * LOAD(TYPE_D, ONE(scale, col));
        case VKGEMM_STEP_SCALE_ALL: return x * LOAD(TYPE_D, ONE(scale, 0));
        case VKGEMM_STEP_RESIDUAL: return x + LOAD(TYPE_D, ONE(residual, batch * args.batch_d + row * args.ldd + col));
    }
    return activated(step, x);
}

// The element of D at (row, col), which must be inside. If k is 0 the product is 0, whatever alpha is. If beta is 0, C
// is not read, because it may hold NaN.
acc_t finished(uint row, uint col, acc_t sum) {
    acc_t x = args.k == 0 ? acc_t(0) : FACTOR(alpha) * sum;
    const acc_t beta = FACTOR(beta);
    if (USE_C != 0 && beta != acc_t(0)) {
        const uint at = batch * args.batch_c + (TRANS_C != 0 ? col * args.ldc + row : row * args.ldc + col);
        x += beta * LOAD(TYPE_D, ONE(c, at));
    }
    x = after_step(STEP_0, row, col, x);
    x = after_step(STEP_1, row, col, x);
    x = after_step(STEP_2, row, col, x);
    return after_step(STEP_3, row, col, x);
}
