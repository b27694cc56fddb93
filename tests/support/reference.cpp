// SPDX-License-Identifier: MIT
#include "support/reference.h"

#include <algorithm>
#include <cmath>

#include "support/mxint8.h"
#include "support/numbers.h"

namespace vkgemm::test {
namespace {

using plan::EpilogueStep;
using plan::Matrix;
using plan::Problem;
using plan::Type;

struct Place {
    uint64_t batch, row, col;
};

/// Adds one rounding of the accumulator to an error.
struct Rounding {
    double unit, flushed;
    Bounded operator()(double value, double error) const { return {value, error + unit * std::fabs(value) + flushed}; }
};

/// What is added to a sum of whole numbers before it becomes a float.
double whole_bias(const Problem& p, const Operands& in, Place at) {
    if (!plan::is_scaled(p) || p.biasType != i32 || p.epilogue.count == 0) return 0;
    const VkgemmStepKind first = p.epilogue.begin()->kind;
    return first == VKGEMM_STEP_BIAS_ROW ? in.bias[at.row] : first == VKGEMM_STEP_BIAS_COL ? in.bias[at.col] : 0;
}

Bounded product(const Problem& p, double alpha, const Operands& in, Place at, const Rounding& round) {
    if (alpha == 0 || (p.k == 0 && p.biasType != i32)) return {};
    // long double gives the reference of an f64 product more digits, if the compiler has such a type
    const uint64_t begin_a = position(p, 0, at.batch, 0, 0), begin_b = position(p, 1, at.batch, 0, 0);
    long double sum = whole_bias(p, in, at);
    double sizes = 0, narrowed = 0;
    const bool rounds_a = p.accuracy == VKGEMM_ACCURACY_MXINT8 && !plan::info(p.b.type).is_plain();
    for (uint64_t i = 0; i < p.k; ++i) {
        const double a = in.a[begin_a + position(p.a, 0, at.row, i)];
        const double b = in.b[begin_b + position(p.b, 0, i, at.col)];
        sum += static_cast<long double>(a) * static_cast<long double>(b);
        sizes += std::fabs(a * b);
        if (rounds_a)
            narrowed += largest_of_32(in.a, begin_a + position(p.a, 0, at.row, i / 32 * 32)) * std::fabs(b) / 127;
        if (p.accuracy >= VKGEMM_ACCURACY_NARROW && plan::is_fp8(p.a.type) && plan::is_fp8(p.b.type))
            narrowed += (31 + 3 * 33) * 0x1p-13 * std::fabs(a * b);  // by Hopper's units (lost_by_fp8_units)
        else if (p.accuracy >= VKGEMM_ACCURACY_NARROW)               // both may be rounded to f16, up or down
            narrowed += 2.1 * 0x1p-10 * std::fabs(a * b) + 0x1p-24 * (std::fabs(a) + std::fabs(b));
    }
    // mixed: a product with a block's scale, and a decoded element that was rounded once
    const double terms = static_cast<double>(p.k) + (plan::is_mixed(p) ? 6 : 2);
    const Bounded total = {static_cast<double>(sum), terms * (round.unit * sizes + round.flushed) + narrowed};
    return round(alpha * total.value, std::fabs(alpha) * total.error);
}

Bounded after_step(const EpilogueStep& step, const Problem& p, const Operands& in, Place at, Bounded x,
                   const Rounding& round) {
    // Vulkan allows exp an error of 3 + 2|x| units in the last place; after gelu and silu it is less than this.
    const double curve = 16 * round.unit * (std::fabs(x.value) + 1) + round.flushed;
    const auto plus = [&](double y) { return round(x.value + y, x.error); };
    const auto times = [&](double y) { return round(x.value * y, x.error * std::fabs(y)); };
    if (plan::info(step.kind).operand == VKGEMM_SLOT_BIAS && p.biasType == i32) return x;  // whole_bias()
    switch (step.kind) {
        case VKGEMM_STEP_BIAS_ROW:
            return plus(in.bias[at.row]);
        case VKGEMM_STEP_BIAS_COL:
            return plus(in.bias[at.col]);
        case VKGEMM_STEP_SCALE_ROW:
            return times(in.scale[at.row]);
        case VKGEMM_STEP_SCALE_COL:
            return times(in.scale[at.col]);
        case VKGEMM_STEP_SCALE_ALL:
            return times(in.scale[0]);
        case VKGEMM_STEP_CLAMP_ROW:
        case VKGEMM_STEP_CLAMP_COL: {
            const uint64_t line = step.kind == VKGEMM_STEP_CLAMP_ROW ? at.row : at.col;
            const double low = in.scale[2 * line], high = in.scale[2 * line + 1];
            return {x.value < low ? low : x.value > high ? high : x.value, x.error};
        }
        case VKGEMM_STEP_RESIDUAL:
            return plus(in.residual[position(p, 3, at.batch, at.row, at.col)]);
        case VKGEMM_STEP_DRELU:
            return in.residual[position(p, 3, at.batch, at.row, at.col)] <= 0 ? Bounded{} : x;
        case VKGEMM_STEP_RELU:
        case VKGEMM_STEP_CLAMP:
            return {applied(step, x.value), x.error};
        case VKGEMM_STEP_LEAKY_RELU:
            return round(applied(step, x.value), x.error * std::max(1.0, std::fabs(static_cast<double>(step.low))));
        default:  // the curves, none of which is steeper than 1.13
            return {applied(step, x.value), 1.13 * x.error + curve};
    }
}

double element_of_c(const Problem& p, const Operands& in, Place at) {
    const bool is_d = p.cSource == VKGEMM_C_IS_D;
    return (is_d ? in.d : in.c)[position(p, is_d ? 3 : 2, at.batch, at.row, at.col)];
}

Bounded float_reference(const Problem& p, double alpha, double beta, const Operands& in, Place at) {
    const Type sum_type = plan::finished_in(p);
    // The reference is computed in f64. As the reference of an f64 sum it rounds as often as the device does.
    const Rounding round = {unit_roundoff(sum_type) * (sum_type == f64 ? 2 : 1), smallest_normal(sum_type)};
    alpha = rounded(sum_type, alpha);
    beta = rounded(sum_type, beta);
    Bounded x = product(p, alpha, in, at, round);
    if (beta != 0 && p.cSource != VKGEMM_C_NONE) {
        const double c = beta * element_of_c(p, in, at);
        x = round(x.value + c, x.error + round.unit * std::fabs(c) + round.flushed);
    }
    for (const EpilogueStep& step : p.epilogue) x = after_step(step, p, in, at, x, round);
    if (p.d.type == i8) {
        const double nearest = std::isnan(x.value) ? 0 : std::clamp(std::nearbyint(x.value), -128.0, 127.0);
        return {nearest, x.error == 0 ? 0 : x.error + 1, x.value};
    }
    if (plan::info(p.d.type).exact_bits < plan::info(sum_type).exact_bits)
        x.error += unit_roundoff(p.d.type) * std::fabs(x.value) + smallest_normal(p.d.type);
    return x;
}

int64_t wrapped(uint64_t x) { return static_cast<int32_t>(static_cast<uint32_t>(x)); }

/// i32 sums wrap around: unsigned arithmetic, whose low 32 bits do not depend on the order.
Bounded whole_reference(const Problem& p, double alpha, double beta, const Operands& in, Place at) {
    const auto bits = [](double x) { return static_cast<uint64_t>(static_cast<int64_t>(x)); };
    uint64_t sum = 0;
    if (bits(alpha) != 0)
        for (uint64_t i = 0; i < p.k; ++i)
            sum += bits(in.a[position(p, 0, at.batch, at.row, i)]) * bits(in.b[position(p, 1, at.batch, i, at.col)]);
    sum *= bits(alpha);
    if (bits(beta) != 0 && p.cSource != VKGEMM_C_NONE) sum += bits(beta) * bits(element_of_c(p, in, at));
    int64_t x = wrapped(sum);
    const auto plus = [&](double y) { x = wrapped(static_cast<uint64_t>(x) + bits(y)); };
    const auto times = [&](double y) { x = wrapped(static_cast<uint64_t>(x) * bits(y)); };
    for (const EpilogueStep& step : p.epilogue) {
        switch (step.kind) {
            case VKGEMM_STEP_BIAS_ROW:
                plus(in.bias[at.row]);
                break;
            case VKGEMM_STEP_BIAS_COL:
                plus(in.bias[at.col]);
                break;
            case VKGEMM_STEP_SCALE_ROW:
                times(in.scale[at.row]);
                break;
            case VKGEMM_STEP_SCALE_COL:
                times(in.scale[at.col]);
                break;
            case VKGEMM_STEP_SCALE_ALL:
                times(in.scale[0]);
                break;
            case VKGEMM_STEP_RESIDUAL:
                plus(in.residual[position(p, 3, at.batch, at.row, at.col)]);
                break;
            case VKGEMM_STEP_DRELU:
                if (in.residual[position(p, 3, at.batch, at.row, at.col)] <= 0) x = 0;
                break;
            case VKGEMM_STEP_RELU:
                x = std::max<int64_t>(x, 0);
                break;
            default:
                break;  // the others are for floats only; complete() refuses them
        }
    }
    return {static_cast<double>(x), 0};
}

/// The number of bits of `x` after the point, at most 30.
int fraction_bits(double x) {
    int bits = 0;
    while (bits < 30 && std::ldexp(x, bits) != std::floor(std::ldexp(x, bits))) ++bits;
    return bits;
}

}  // namespace

uint64_t position(const Matrix& matrix, uint64_t batch, uint64_t row, uint64_t col) {
    const uint64_t within = matrix.layout == plan::rowMajor ? row * matrix.ld + col : col * matrix.ld + row;
    return batch * matrix.batchStride + within;
}

uint64_t position(const Problem& p, size_t operand, uint64_t batch, uint64_t row, uint64_t col) {
    const uint64_t strides[] = {p.outerStrideA, p.outerStrideB, p.outerStrideC, p.outerStrideD};
    const Matrix* const matrices[] = {&p.a, &p.b, &p.c, &p.d};
    const uint64_t ratios[] = {p.ratioA, p.ratioB, 1, 1}, outer_ratios[] = {p.outerRatioA, p.outerRatioB, 1, 1};
    const uint64_t inner = p.batch ? batch % p.batch : 0, outer = p.batch ? batch / p.batch : 0;
    return outer / outer_ratios[operand] * strides[operand] +
           position(*matrices[operand], inner / ratios[operand], row, col);
}

Bounded reference(const Problem& p, double alpha, double beta, const Operands& in, uint64_t batch, uint64_t row,
                  uint64_t col) {
    const bool floats = plan::info(plan::finished_in(p)).is_float;
    return (floats ? float_reference : whole_reference)(p, alpha, beta, in, {batch, row, col});
}

bool is_curve(VkgemmStepKind kind) {
    const plan::StepInfo& step = plan::info(kind);
    return step.sums == plan::StepSums::FLOATS && step.operand == VKGEMM_SLOT_COUNT && !step.has_bounds() &&
           !step.has_slope();
}

int64_t exact_range(int digits_in, int digits_acc, uint64_t k) {
    const double most = std::ldexp(1.0, std::min(digits_acc, 53));
    int64_t r = 0;
    while (r + 1 <= (int64_t{1} << std::min(digits_in, 20)) &&
           static_cast<double>(k) * static_cast<double>((r + 1) * (r + 1)) <= most)
        ++r;
    return r;
}

ExactFill exact_fill(const Problem& p, double alpha, double beta) {
    if (!plan::info(plan::finished_in(p)).is_float) {  // arithmetic modulo 2^32 is exact for all numbers
        const auto widest = static_cast<int64_t>(largest(p.a.type));
        return {p.a.type == p.b.type ? widest : 127, static_cast<int64_t>(largest(p.d.type))};
    }
    // Two parts leave out the product of the second ones, which must therefore be 0.
    const bool as_f16 = p.accuracy >= VKGEMM_ACCURACY_F32_SPLIT_ROWS;
    const int in_bytes = p.accuracy == VKGEMM_ACCURACY_MXINT8 ? 6 : 24;  // a block may have 64 as its largest
    // 128 products of e4m3 or e5m2 must not need more than the 13 digits of Hopper's units.
    const bool in_units = p.accuracy >= VKGEMM_ACCURACY_NARROW && plan::is_fp8(p.a.type) && plan::is_fp8(p.b.type);
    const int digits_in = std::min({plan::info(p.a.type).exact_bits, plan::info(p.b.type).exact_bits,
                                    plan::info(as_f16 ? f16 : f32).exact_bits, in_bytes, in_units ? 3 : 24});
    // The shaders round a D of bf16 once, to even, so that it is exact as well.
    // So is one of i8, which saturates.
    const Type sums = plan::finished_in(p), narrow = p.d.type == bf16 || p.d.type == i8 ? sums : p.d.type;
    const int digits = std::min(plan::info(sums).exact_bits, plan::info(narrow).exact_bits);
    int halves = std::max(fraction_bits(alpha), fraction_bits(beta)) + (plan::is_scaled(p) ? 1 : 0);  // scales of 1/2
    for (const EpilogueStep& step : p.epilogue)
        if (step.kind == VKGEMM_STEP_LEAKY_RELU) halves += fraction_bits(static_cast<double>(step.low));
    const double most = std::ldexp(1.0, digits - halves);
    const int64_t others = 3;
    const auto reach = [&](int64_t r) {  // the largest magnitude of D and of everything that it is computed from
        double x = std::max(std::fabs(alpha), 1.0) * static_cast<double>(p.k) * static_cast<double>(r * r);
        x += std::fabs(beta) * others;
        for (const EpilogueStep& step : p.epilogue) {
            const bool adds = step.kind == VKGEMM_STEP_BIAS_ROW || step.kind == VKGEMM_STEP_BIAS_COL ||
                              step.kind == VKGEMM_STEP_RESIDUAL;
            const bool scales = step.kind == VKGEMM_STEP_SCALE_ROW || step.kind == VKGEMM_STEP_SCALE_COL ||
                                step.kind == VKGEMM_STEP_SCALE_ALL;
            x = adds ? x + others : scales ? 2 * x : x;
            if (step.kind == VKGEMM_STEP_LEAKY_RELU) x *= std::max(1.0, std::fabs(static_cast<double>(step.low)));
        }
        return x;
    };
    int64_t r = exact_range(digits_in, digits, std::max<uint64_t>(p.k, 1));
    while (r > 0 && reach(r) > most) --r;
    return {p.a.type == i8 || p.b.type == i8 ? std::min<int64_t>(r, 127) : r, others};
}

}  // namespace vkgemm::test
