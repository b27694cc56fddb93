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

/// The products of one element of D over k: their sum, the sum of their magnitudes, and what narrower operands lose.
/// long double gives the reference of an f64 product more digits, if the compiler has such a type.
struct Sum {
    long double value = 0;
    double sizes = 0, narrowed = 0;
};

bool rounds_to_mxint8(const Problem& p) {
    return p.accuracy == VKGEMM_ACCURACY_MXINT8 && !plan::info(p.b.type).is_plain();
}
/// By Hopper's units (lost_by_fp8_units), of the sum of magnitudes.
bool rounds_in_units(const Problem& p) {
    return p.accuracy >= VKGEMM_ACCURACY_NARROW && plan::is_fp8(p.a.type) && plan::is_fp8(p.b.type);
}
constexpr double lost_in_units = (31 + 3 * 33) * 0x1p-13;
/// Both operands may be rounded to f16, up or down: of the sum of magnitudes, and of those of each operand.
bool rounds_to_f16(const Problem& p) { return p.accuracy >= VKGEMM_ACCURACY_NARROW && !rounds_in_units(p); }
constexpr double lost_of_products = 2.1 * 0x1p-10, lost_of_factors = 0x1p-24;

/// B: in.b or in.b2.
Sum sum_of(const Problem& p, const Operands& in, const std::vector<double>& matrix, Place at) {
    const uint64_t begin_a = position(p, 0, at.batch, 0, 0), begin_b = position(p, 1, at.batch, 0, 0);
    Sum out;
    double factors = 0;
    for (uint64_t i = 0; i < p.k; ++i) {
        const double a = in.a[begin_a + position(p.a, 0, at.row, i)];
        const double b = matrix[begin_b + position(p.b, 0, i, at.col)];
        out.value += static_cast<long double>(a) * static_cast<long double>(b);
        out.sizes += std::fabs(a * b);
        factors += std::fabs(a) + std::fabs(b);
        if (rounds_to_mxint8(p))
            out.narrowed += largest_of_32(in.a, begin_a + position(p.a, 0, at.row, i / 32 * 32)) * std::fabs(b) / 127;
    }
    if (rounds_in_units(p)) out.narrowed += lost_in_units * out.sizes;
    if (rounds_to_f16(p)) out.narrowed += lost_of_products * out.sizes + lost_of_factors * factors;
    return out;
}

Bounded product(const Problem& p, double alpha, const Operands& in, Place at, const Sum& given, const Rounding& round) {
    if (alpha == 0 || (p.k == 0 && p.biasType != i32)) return {};
    const auto sum = static_cast<double>(given.value + whole_bias(p, in, at));
    // mixed: a product with a block's scale, and a decoded element that was rounded once
    const double terms = static_cast<double>(p.k) + (plan::is_mixed(p) ? 6 : 2);
    const double error = terms * (round.unit * given.sizes + round.flushed) + given.narrowed;
    return round(alpha * sum, std::fabs(alpha) * error);
}

/// An activation of which a factor is computed, and its step.
VkgemmStepKind activation_of(VkgemmStepKind gate) {
    switch (plan::step_in_kernel(gate)) {
        case VKGEMM_STEP_GATE_RELU:
            return VKGEMM_STEP_RELU;
        case VKGEMM_STEP_GATE_GELU:
            return VKGEMM_STEP_GELU;
        case VKGEMM_STEP_GATE_SILU:
            return VKGEMM_STEP_SILU;
        default:
            return VKGEMM_STEP_NONE;
    }
}

// Vulkan allows exp an error of 3 + 2|x| units in the last place; after gelu and silu it is less than this.
double error_of_curve(double x, const Rounding& round) { return 16 * round.unit * (std::fabs(x) + 1) + round.flushed; }

/// x times the activation of a gate.
Bounded gated(VkgemmStepKind step, Bounded x, Bounded gate, const Rounding& round) {
    const VkgemmStepKind activation = activation_of(step);
    const bool curve = activation != VKGEMM_STEP_RELU;  // none is steeper than 1.13
    const double y = applied({activation}, gate.value);
    const double off = curve ? 1.13 * gate.error + error_of_curve(gate.value, round) : gate.error;
    return round(x.value * y, x.error * (std::fabs(y) + off) + std::fabs(x.value) * off);
}

/// The second product of a pair, with its bias.
Bounded second_of_pair(const Problem& p, double alpha, const Operands& in, Place at, const Rounding& round) {
    const Bounded y = product(p, alpha, in, at, alpha != 0 ? sum_of(p, in, in.b2, at) : Sum{}, round);
    if (!plan::is_biased_pair(p)) return y;
    return round(y.value + in.bias2[p.epilogue.begin()->kind == VKGEMM_STEP_BIAS_ROW ? at.row : at.col], y.error);
}

Bounded after_curve(const EpilogueStep& step, Bounded x, const Rounding& round) {
    return {applied(step, x.value), 1.13 * x.error + error_of_curve(x.value, round)};  // none is steeper than 1.13
}

/// One operation on the value, which rounds once. Its slope near x is taken from the values around it.
Bounded after_arithmetic(const EpilogueStep& step, Bounded x, const Rounding& round) {
    const double y = applied(step, x.value), around = std::max(x.error, std::fabs(x.value) * 0x1p-20);
    double error = 0;
    for (const double other : {x.value - around, x.value + around})
        if (x.error > 0) error = std::max(error, std::fabs(applied(step, other) - y) / around * x.error);
    return round(y, error);
}

Bounded after_step(const EpilogueStep& step, const Problem& p, const Operands& in, double alpha, Place at, Bounded x,
                   const Rounding& round) {
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
        case VKGEMM_STEP_GATE_RELU:
        case VKGEMM_STEP_GATE_GELU:
        case VKGEMM_STEP_GATE_SILU:
            return gated(step.kind, x, {in.residual[position(p, 3, at.batch, at.row, at.col)]}, round);
        case VKGEMM_STEP_PAIR_RELU:
        case VKGEMM_STEP_PAIR_GELU:
        case VKGEMM_STEP_PAIR_SILU:
            return gated(step.kind, x, second_of_pair(p, alpha, in, at, round), round);
        case VKGEMM_STEP_RELU:
        case VKGEMM_STEP_CLAMP:
            return {applied(step, x.value), x.error};
        default:
            return isCurve(step.kind) ? after_curve(step, x, round) : after_arithmetic(step, x, round);
    }
}

double element_of_c(const Problem& p, const Operands& in, Place at) {
    const bool is_d = p.cSource == VKGEMM_C_IS_D;
    return (is_d ? in.d : in.c)[position(p, is_d ? 3 : 2, at.batch, at.row, at.col)];
}

Bounded float_reference(const Problem& p, double alpha, double beta, const Operands& in, Place at, const Sum& sum) {
    const Type sum_type = plan::finished_in(p);
    // The reference is computed in f64. As the reference of an f64 sum it rounds as often as the device does.
    const Rounding round = {unit_roundoff(sum_type) * (sum_type == f64 ? 2 : 1), smallest_normal(sum_type)};
    alpha = rounded(sum_type, alpha);
    beta = rounded(sum_type, beta);
    Bounded x = product(p, alpha, in, at, sum, round);
    if (beta != 0 && p.cSource != VKGEMM_C_NONE) {
        const double c = beta * element_of_c(p, in, at);
        x = round(x.value + c, x.error + round.unit * std::fabs(c) + round.flushed);
    }
    for (const EpilogueStep& step : p.epilogue) x = after_step(step, p, in, alpha, at, x, round);
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
uint64_t bits(double x) { return static_cast<uint64_t>(static_cast<int64_t>(x)); }

uint64_t whole_sum_of(const Problem& p, const Operands& in, const std::vector<double>& b, Place at) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < p.k; ++i)
        sum += bits(in.a[position(p, 0, at.batch, at.row, i)]) * bits(b[position(p, 1, at.batch, i, at.col)]);
    return sum;
}

Bounded whole_reference(const Problem& p, double alpha, double beta, const Operands& in, Place at, uint64_t sum) {
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
            case VKGEMM_STEP_GATE_RELU:
                times(std::max(in.residual[position(p, 3, at.batch, at.row, at.col)], 0.0));
                break;
            case VKGEMM_STEP_PAIR_RELU: {
                uint64_t y = bits(alpha) ? bits(alpha) * whole_sum_of(p, in, in.b2, at) : 0;
                if (plan::is_biased_pair(p))
                    y += bits(in.bias2[p.epilogue.begin()->kind == VKGEMM_STEP_BIAS_ROW ? at.row : at.col]);
                times(static_cast<double>(std::max<int64_t>(wrapped(y), 0)));
                break;
            }
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
    const Place at{batch, row, col};
    if (!plan::info(plan::finished_in(p)).is_float)
        return whole_reference(p, alpha, beta, in, at, bits(alpha) ? whole_sum_of(p, in, in.b, at) : 0);
    return float_reference(p, alpha, beta, in, at, alpha != 0 ? sum_of(p, in, in.b, at) : Sum{});
}

References::References(const Problem& p, double alpha, double beta, const Operands& in, uint64_t batch, bool few_rows)
    : p_(p),
      alpha_(alpha),
      beta_(beta),
      in_(in),
      batch_(batch),
      by_rows_(few_rows || p.n >= p.m || rounds_to_mxint8(p)),
      floats_(plan::info(plan::finished_in(p)).is_float),
      wide_(plan::finished_in(p) == f64),
      lines_(by_rows_ ? p.m : p.n),
      length_(by_rows_ ? p.n : p.m) {
    if (alpha == 0 || p.k == 0) return;
    done_.resize(lines_);
    pack();
}

double References::element(bool of_a, uint64_t line, uint64_t k) const {
    return of_a ? in_.a[begin_[0] + position(p_.a, 0, line, k)] : in_.b[begin_[1] + position(p_.b, 0, k, line)];
}

void References::pack() {
    begin_ = {position(p_, 0, batch_, 0, 0), position(p_, 1, batch_, 0, 0)};
    const uint64_t all = lines_ * length_;
    if (floats_) {
        across_.resize(p_.k * length_);
        factors_.resize(length_);
        for (uint64_t i = 0; i < p_.k; ++i)
            for (uint64_t c = 0; c < length_; ++c) {
                const double x = across_[i * length_ + c] = element(!by_rows_, c, i);
                factors_[c] += std::fabs(x);
            }
        sizes_.resize(all);
        narrowed_.resize(all);
        if (wide_)
            wide_sums_.resize(all);
        else
            sums_.resize(all);
    } else {
        whole_across_.resize(p_.k * length_);
        for (uint64_t i = 0; i < p_.k; ++i)
            for (uint64_t c = 0; c < length_; ++c)
                whole_across_[i * length_ + c] = static_cast<uint32_t>(bits(element(!by_rows_, c, i)));
        whole_sums_.resize(all);
    }
}

namespace {

// The products with one element after the other, each with a whole line of the other operand, whose sums are
// independent, so that a compiler can compute several at once.
template <class Real>
void add_products(const std::vector<double>& one, const std::vector<double>& across, uint64_t length, Real* sums,
                  double* sizes) {
    for (uint64_t i = 0; i < one.size(); ++i) {
        const double x = one[i], *const line = &across[i * length];
        for (uint64_t c = 0; c < length; ++c) {
            sums[c] += static_cast<Real>(x) * static_cast<Real>(line[c]);
            sizes[c] += std::fabs(x * line[c]);
        }
    }
}

}  // namespace

void References::add(uint64_t line) {
    const uint64_t begin = line * length_;
    if (!floats_) {
        for (uint64_t i = 0; i < p_.k; ++i) {
            const auto x = static_cast<uint32_t>(bits(element(by_rows_, line, i)));
            const uint32_t* const other = &whole_across_[i * length_];
            for (uint64_t c = 0; c < length_; ++c) whole_sums_[begin + c] += x * other[c];
        }
        return;
    }
    std::vector<double> one(p_.k);
    double factors = 0;
    for (uint64_t i = 0; i < p_.k; ++i) factors += std::fabs(one[i] = element(by_rows_, line, i));
    if (wide_)
        add_products(one, across_, length_, &wide_sums_[begin], &sizes_[begin]);
    else
        add_products(one, across_, length_, &sums_[begin], &sizes_[begin]);
    double* const narrowed = &narrowed_[begin];
    if (rounds_to_mxint8(p_)) {
        double largest = 0;
        for (uint64_t i = 0; i < p_.k; ++i) {
            if (i % 32 == 0) largest = largest_of_32(in_.a, begin_[0] + position(p_.a, 0, line, i)) / 127;
            for (uint64_t c = 0; c < length_; ++c) narrowed[c] += largest * std::fabs(across_[i * length_ + c]);
        }
    }
    for (uint64_t c = 0; c < length_; ++c) {
        if (rounds_in_units(p_)) narrowed[c] += lost_in_units * sizes_[begin + c];
        if (rounds_to_f16(p_))
            narrowed[c] += lost_of_products * sizes_[begin + c] + lost_of_factors * (factors + factors_[c]);
    }
}

Bounded References::operator()(uint64_t row, uint64_t col) {
    const Place place{batch_, row, col};
    const uint64_t line = by_rows_ ? row : col, at = line * length_ + (by_rows_ ? col : row);
    const bool sums = !done_.empty();
    if (sums && !done_[line]) {
        add(line);
        done_[line] = true;
    }
    if (!floats_) return whole_reference(p_, alpha_, beta_, in_, place, sums ? whole_sums_[at] : 0);
    const Sum sum = !sums ? Sum{}
                          : Sum{.value = wide_ ? wide_sums_[at] : static_cast<long double>(sums_[at]),
                                .sizes = sizes_[at],
                                .narrowed = narrowed_[at]};
    return float_reference(p_, alpha_, beta_, in_, place, sum);
}

bool is_curve(VkgemmStepKind kind) {
    const VkgemmStepKind activation = activation_of(kind);
    return isCurve(activation != VKGEMM_STEP_NONE ? activation : kind);
}

int64_t exact_range(int digits_in, int digits_acc, uint64_t k) {
    const double most = std::ldexp(1.0, std::min(digits_acc, 53));
    const auto fits = [&](int64_t r) { return static_cast<double>(k) * static_cast<double>(r * r) <= most; };
    int64_t r = std::min(static_cast<int64_t>(std::sqrt(most / static_cast<double>(std::max<uint64_t>(k, 1)))) + 1,
                         int64_t{1} << std::min(digits_in, 20));
    while (r > 0 && !fits(r)) --r;
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
    const auto is_arithmetic = [](const EpilogueStep& step) {
        return plan::info(step.kind).operand == VKGEMM_SLOT_COUNT && !plan::info(step.kind).has_bounds() &&
               !isCurve(step.kind);
    };
    for (const EpilogueStep& step : p.epilogue) {
        const double least = std::ldexp(1.0, -halves);
        for (const double x : {-least, least})
            if (is_arithmetic(step)) halves = std::max(halves, fraction_bits(applied(step, x)));
    }
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
            if (plan::info(step.kind).is_pair()) x *= x;
            if (step.kind == VKGEMM_STEP_GATE_RELU) x *= others;
            if (is_arithmetic(step)) x = std::max({x, std::fabs(applied(step, -x)), std::fabs(applied(step, x))});
        }
        return x;
    };
    int64_t r = exact_range(digits_in, digits, std::max<uint64_t>(p.k, 1)), too_many = r + 1;
    if (reach(r) > most) {  // the largest below it
        too_many = r;
        r = 0;
    }
    while (r + 1 < too_many) {
        const int64_t middle = r + (too_many - r) / 2;
        (reach(middle) > most ? too_many : r) = middle;
    }
    return {p.a.type == i8 || p.b.type == i8 ? std::min<int64_t>(r, 127) : r, others};
}

}  // namespace vkgemm::test
