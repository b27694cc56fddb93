// SPDX-License-Identifier: MIT
// The bound of a product's error, which is promised before it runs (docs/accuracy.md).
#include <algorithm>
#include <cmath>

#include "plan/steps/make_steps.h"
#include "shaders/common/moduli.h"

namespace vkgemm::plan {
namespace {

// Hopper's units line up 32 products of fp8 and the sum so far, and keep 13 binary digits after the first of the
// largest (measured, not documented). Less than 2^-13 of that is lost of each. wgmma_fp8 takes a sum out after 128
// products: the first 32 are no larger than max|A| max|B|, and what the others are added to is at most 32, 64 and 96
// times as much.
constexpr double lost_by_fp8_units = (31 + 33 * (32 + 64 + 96)) * 0x1p-13 / 128;

// A row is scaled to whole numbers, whose fractions are cut off, by at least sqrt(H / k) / 2 divided by its largest
// element, where H is P / 2 - 1 (exponent_of() in shaders/split_int8): the norm of a row is at most sqrt(k) times that
// element, an exponent is a multiple of 1, and 2^-20 covers what is rounded up. Each of the k elements of a row then
// errs by at most the inverse, beside an element of the column, and the other way round. Then D is rounded: once, or if
// K is cut into slices (parts_of()), once for each and once for each that is added.
double bound_from_int8(double k, bool wide) {
    const double slices = std::ceil(k / MODULI_MOST_K), deepest = std::min(k, double(MODULI_MOST_K));
    const double half = wide ? std::ldexp(double(MODULI_HALF_HIGH_WIDE), MODULI_HALF_BITS_WIDE - 31)
                             : std::ldexp(double(MODULI_HALF_HIGH), MODULI_HALF_BITS - 31);
    const double cut_off = 2 * std::sqrt(deepest / half) * (1 + 0x1p-20);
    const double sum = 2 * k * cut_off + k * cut_off * cut_off;
    return sum + std::max(slices, 1.0) * std::ldexp(1.0, -info(f64).exact_bits) * (k + sum);
}

}  // namespace

// k products and k sums in the accumulator, each off by at most half a unit in the last place of a partial sum, which
// is at most k max|A| max|B|: to first order k/2 * eps * k, bounded here by the textbook gamma_(k+1) * k. Then one
// rounding to D's type. From parts it is four times that (docs/accuracy.md).
double error_bound_of(const Problem& p, const Kernel* kernel) {
    if (is_from_int8(p)) return bound_from_int8(double(p.k), moduli_of(p) == MODULI_WIDE);
    const TypeInfo& acc = info(p.accumulate);
    const double rounding = info(p.d.type).is_float ? std::ldexp(1.0, -info(p.d.type).exact_bits) : 0;
    if (is_scaled(p)) return (2 * std::ldexp(1.0, -info(f32).exact_bits) + rounding) * double(p.k);
    if (!acc.is_float) return 0;
    // Of mixed types a decoded element is rounded once, and eight products at a time are multiplied by their scale.
    const double extra = is_mixed(p) ? 5 : 1;
    const double unit = std::ldexp(1.0, -acc.exact_bits), k = double(p.k), steps = (k + extra) * unit;
    if (steps >= 1) return INFINITY;
    // accuracy=narrow: each of two elements is rounded to f16, in whatever direction the device rounds. mxint8: one of
    // them to 1/127 of the largest of its block, and the other as it is.
    const bool in_bytes = kernel && kernel->module.family.accuracy == VKGEMM_ACCURACY_MXINT8;
    const double narrow = in_bytes                                    ? 1.0 / 127
                          : kernel && kernel->module.family.takes_fp8 ? lost_by_fp8_units
                          : p.accuracy >= VKGEMM_ACCURACY_NARROW      ? 2 * 0x1p-10 + 0x1p-20
                                                                      : 0;
    const double sum =
        steps / (1 - steps) * k * (kernel && kernel->module.family.operand_split.count > 1 ? 4 : 1) + narrow * k;
    return sum + rounding * (k + sum);
}

}  // namespace vkgemm::plan
