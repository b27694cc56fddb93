// SPDX-License-Identifier: MIT
// How a sum becomes a value of D: alpha, beta and C, then up to four steps. gemm.glsl includes this. Functions have one
// return, at their end, because the optimiser makes a loop of any other when it copies them to where they are called.

// The scalars of the run, from its arguments or from memory.
out_t alpha, beta;
bool is_nothing;  // k, or an alpha in memory, is 0: the product is 0, even if alpha or the sum is NaN
float low, high;

#if defined(VKGEMM_ADDRESSES) && !defined(VKGEMM_GROUPED) && (defined(SUMS_IN_F32) || defined(SCALED_D))
#define SCALARS_IN_MEMORY Scalars(SCALARS_AT)
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Scalars {  // VkgemmScalars
    float alpha, beta, low, high;
    uint non_finite, largest;  // largest: the bits of an f32
};

// If a module uses the Vulkan memory model, device scope needs a feature of its own, and queue family scope is enough
// for one dispatch. Without the memory model, device scope is the only one. A device that has the model but not the
// feature gets the module without the atomic (src/vk/pipelines.cpp).
#ifdef VKGEMM_MATRIX_UNITS
#define RAISE(number, to) atomicMax(number, to, gl_ScopeQueueFamily, 0, gl_SemanticsRelaxed)
#else
#define RAISE(number, to) atomicMax(number, to)
#endif

// The bits of |x|, which are in the order of the numbers, with NaN above all.
uint size_of(float x) { return floatBitsToUint(x) & 0x7fffffffu; }
// Notes the largest magnitude that was stored. `size` is 0 if nothing was. All invocations that write non_finite write
// the same value. If another invocation raises `largest` after it was read here, the atomic is superfluous but
// harmless.
void monitor(uint size) {
    if ((SCALARS & SCALARS_MONITOR) != 0 && size >= INFINITE) SCALARS_IN_MEMORY.non_finite = 1;
    if ((SCALARS & SCALARS_LARGEST) != 0 && size > SCALARS_IN_MEMORY.largest) RAISE(SCALARS_IN_MEMORY.largest, size);
}
#else
#define size_of(x) 0
void monitor(uint size) {}
#endif

void read_scalars() {
    alpha = FACTOR(alpha);
    beta = FACTOR(beta);
    low = CLAMP_LOW;
    high = CLAMP_HIGH;
#ifdef SCALARS_IN_MEMORY
    if ((SCALARS & SCALARS_ALPHA) != 0) alpha = SCALARS_IN_MEMORY.alpha;
    if ((SCALARS & SCALARS_BETA) != 0) beta = SCALARS_IN_MEMORY.beta;
    if ((SCALARS & SCALARS_CLAMP) != 0) {
        low = SCALARS_IN_MEMORY.low;
        high = SCALARS_IN_MEMORY.high;
    }
#endif
    is_nothing = args.k == 0 || ((SCALARS & SCALARS_ALPHA) != 0 && alpha == out_t(0));
}

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
            y = isnan(x) ? x : clamp(x, low, high);
    }
    return y;
}
#ifdef SUMS_IN_F64
#include "common/activated_f64.glsl"
#endif
int activated(uint step, int x) { return step == VKGEMM_STEP_RELU ? max(x, 0) : x; }

// A clamp by two numbers of each row or column; sums of whole numbers have none.
#if defined(SUMS_IN_F32) || defined(SCALED_D) || defined(SUMS_IN_F64)
out_t clamped(uint line, out_t x) { return isnan(x) ? x : clamp(x, scale_at(2 * line), scale_at(2 * line + 1)); }
#else
out_t clamped(uint line, out_t x) { return x; }
#endif

out_t after_step(uint step, uint row, uint col, out_t x, out_t residual) {
    if (step == VKGEMM_STEP_BIAS_ROW || step == VKGEMM_STEP_BIAS_COL)
        x += bias_at(step == VKGEMM_STEP_BIAS_ROW ? row : col);
    else if (step == VKGEMM_STEP_SCALE_ROW || step == VKGEMM_STEP_SCALE_COL || step == VKGEMM_STEP_SCALE_ALL)
        x *= scale_at(step == VKGEMM_STEP_SCALE_ROW ? row : step == VKGEMM_STEP_SCALE_COL ? col : 0);
    else if (step == VKGEMM_STEP_CLAMP_ROW || step == VKGEMM_STEP_CLAMP_COL)
        x = clamped(step == VKGEMM_STEP_CLAMP_ROW ? row : col, x);
    else if (step == VKGEMM_STEP_RESIDUAL) x += residual;
    else if (step == VKGEMM_STEP_DRELU) x = residual <= out_t(0) ? out_t(0) : x;  // NaN is not below 0
    else if (step == VKGEMM_STEP_GATE_RELU) x *= activated(VKGEMM_STEP_RELU, residual);
    else if (step == VKGEMM_STEP_GATE_GELU) x *= activated(VKGEMM_STEP_GELU, residual);
    else if (step == VKGEMM_STEP_GATE_SILU) x *= activated(VKGEMM_STEP_SILU, residual);
    else x = activated(step, x);
    return x;
}

// alpha times the sum.
#ifdef SCALED_D
float times_alpha(uint row, uint col, int sum) {
    const bool whole_bias = FORMAT_BIAS == VKGEMM_TYPE_I32;  // which is the first step; bias_at gives 0 for it
    if (whole_bias) sum += ONE_FROM(bias_i32, args.bias, STEP_0 == VKGEMM_STEP_BIAS_ROW ? row : col);
    return is_nothing && !whole_bias ? 0 : alpha * float(sum);
}
#else
acc_t times_alpha(uint row, uint col, acc_t sum) { return is_nothing ? acc_t(0) : alpha * sum; }
#endif

// The steps that read a residual, as bits of their numbers. A pair is a gate here. Slots are 1 where that is read.
const uint VKGEMM_SLOT_BIAS = 0, VKGEMM_SLOT_SCALE = 0, VKGEMM_SLOT_RESIDUAL = 1, VKGEMM_SLOT_B2 = 0;
const uint VKGEMM_SLOT_COUNT = 0;
#define VKGEMM_ROW(name, number, text, accumulators, operand, shape, meaning) | operand << number
const uint READ_RESIDUAL = 0 VKGEMM_STEP_ROWS(VKGEMM_ROW);
#undef VKGEMM_ROW
// How many of the steps do. A sum, for glslc's optimiser loses constants that || and && are made of.
const uint RESIDUALS = (READ_RESIDUAL >> STEP_0 & 1) + (READ_RESIDUAL >> STEP_1 & 1) + (READ_RESIDUAL >> STEP_2 & 1) +
                       (READ_RESIDUAL >> STEP_3 & 1);

// C and the residual at an element of D, or 0 where they do not count. If beta is 0, C is not read, because it may hold
// NaN. Both after read_scalars().
bool reads_c() { return USE_C != 0 && beta != out_t(0); }
uint index_c(uint row, uint col) {
    return batch * args.batch_c + (TRANS_C != 0 ? col * args.ldc + row : row * args.ldc + col);
}
uint index_d(uint row, uint col) { return batch * args.batch_d + row * args.ldd + col; }  // and of the residual
out_t c_of(uint row, uint col) {
    out_t c = out_t(0);
    if (reads_c()) c = c_at(index_c(row, col));
    return c;
}
// The gate of a pair: the sum by B2 at the element that is finished next, with the bias in the residual's place.
acc_t gate_sum;
out_t gate_of(uint row, uint col) {
    out_t gate = times_alpha(row, col, gate_sum);
    if (STEP_0 == VKGEMM_STEP_BIAS_ROW || STEP_0 == VKGEMM_STEP_BIAS_COL)
        gate += residual_at(STEP_0 == VKGEMM_STEP_BIAS_ROW ? row : col);
    return gate;
}
out_t residual_of(uint row, uint col) {
    out_t residual = out_t(0);
#ifdef VKGEMM_PAIRS
    if (PAIR != 0) residual = gate_of(row, col);
    else
#endif
    if (RESIDUALS != 0) residual = residual_at(index_d(row, col));
    return residual;
}

// The element of D at (row, col), which must be inside, after read_scalars().
out_t finished(uint row, uint col, acc_t sum, out_t c, out_t residual) {
    out_t x = times_alpha(row, col, sum);
    if (reads_c()) x += beta * c;
    x = after_step(STEP_0, row, col, x, residual);
    x = after_step(STEP_1, row, col, x, residual);
    x = after_step(STEP_2, row, col, x, residual);
    return after_step(STEP_3, row, col, x, residual);
}
