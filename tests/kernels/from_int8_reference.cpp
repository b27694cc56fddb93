// SPDX-License-Identifier: MIT
// What f64 from products of int8 must give, in exact arithmetic, and how far that may be from the true product.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "kernels/from_int8_run.h"
#include "plan/base/concat.h"
#include "support/exact_sum.h"
#include "vkgemm/text.hpp"

namespace vkgemm::test::from_int8 {
namespace {

// A row of A, or a column of B, as whole numbers times 2^-exponent.
struct Scaled {
    std::vector<uint64_t> size;
    std::vector<int> shift;  // a number is its size times 2^shift
    std::vector<bool> negative;
    int exponent = 0;
    bool is_finite = true;
    double norm = 0, sum = 0;  // of magnitudes, divided by 2^order
    int order = 0;             // 2^order is at most the largest magnitude, and at least half of it

    Scaled(const std::vector<double>& x, bool wide) {
        double largest_x = 0;
        for (const double v : x) {
            is_finite = is_finite && std::isfinite(v);
            largest_x = std::max(largest_x, std::fabs(v));
        }
        if (!is_finite || largest_x == 0) {
            size.assign(x.size(), 0);
            shift.assign(x.size(), 0);
            negative.assign(x.size(), false);
            return;
        }
        order = std::ilogb(largest_x);
        uint64_t squares = 0;
        for (const double v : x) {
            const double up = std::ceil(std::ldexp(std::fabs(v), 22 - order));
            const auto whole = v != 0 && up == 0 ? uint64_t{1} : static_cast<uint64_t>(up);
            squares += whole * whole;
            const double part = std::ldexp(v, -order);
            norm += part * part;
            sum += std::fabs(part);
        }
        norm = std::sqrt(norm);
        int half = 72;  // the largest with which squares * 4^half is at most largest()
        while (exceeds(squares, 2 * half, wide)) --half;
        exponent = half + 22 - order;
        for (const double v : x) {
            int of = 0;
            const uint64_t s = ExactSum::significand(v, of);
            const int left = of + exponent;
            size.push_back(left >= 0 ? s : left > -64 ? s >> -left : 0);
            shift.push_back(std::max(left, 0));
            negative.push_back(std::signbit(v));
        }
    }

   private:
    static bool exceeds(uint64_t squares, int exponent, bool wide) {
        const auto most = largest(wide);
        ExactSum left;
        left.add(squares, 1, exponent, false);
        for (size_t i = 0; i < most.size(); ++i) left.add(most[i], 1, static_cast<int>(32 * i), true);
        return left.sign() > 0;
    }
};

bool same_bits(double x, double y) {
    return (std::isnan(x) && std::isnan(y)) || std::bit_cast<uint64_t>(x) == std::bit_cast<uint64_t>(y);
}
double times(double x, double y) {  // rounded, never part of a fused multiply-add
    volatile double product = x * y;
    return product;
}

/// What of the products is not finite, summed as IEEE arithmetic does: no other sum is not finite.
double sum_of_others(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (size_t k = 0; k < a.size(); ++k)
        if (!std::isfinite(a[k]) || !std::isfinite(b[k])) sum += times(a[k], b[k]);
    return sum;
}

/// The product of a row and a column, whole numbers multiplied without any rounding, and then rounded once.
double expected(const Scaled& a, const Scaled& b) {
    ExactSum sum;
    for (size_t k = 0; k < a.size.size(); ++k)
        sum.add(a.size[k], b.size[k], a.shift[k] - a.exponent + b.shift[k] - b.exponent,
                a.negative[k] != b.negative[k]);
    return sum.rounded();
}

/// How far `d` is from the product, divided by 2^(a.order + b.order), and how far it may be: each element is cut off
/// below 2^-exponent, and an exponent is so large that this is at most twice the norm divided by the root of P / 2.
/// Then D is rounded once. 2^-19 covers how norms are rounded up. Returns the part of the promised bound that the error
/// is, at most: the largest elements are below 2^(order + 1).
double check_error(const Run& x, const std::vector<double>& a, const std::vector<double>& b, const Scaled& of_a,
                   const Scaled& of_b, double d) {
    ExactSum sum;
    for (size_t k = 0; k < a.size(); ++k) sum.add(a[k], b[k]);
    const double exact_over = sum.over(of_a.order + of_b.order);
    sum.add(d, 1, true);
    const int order = of_a.order + of_b.order;
    const double error = std::fabs(sum.over(order)), k = static_cast<double>(a.size());
    const double root = std::sqrt(largest_over(x.is_wide(), 0)) / (1 + 0x1p-19);
    const double cut_a = 2 * of_a.norm / root, cut_b = 2 * of_b.norm / root;
    const double half_unit = std::max(0x1p-53 * (std::fabs(exact_over) + error), std::ldexp(0x1p-1073, -order - 2));
    const double bound = cut_a * of_b.sum + cut_b * of_a.sum + k * cut_a * cut_b + half_unit;
    CHECK_MESSAGE(error <= bound, x.used, " is off by ", error, ", and the bound is ", bound);
    if (std::fabs(d) <= 0x1p-1000) return 0;  // or D is subnormal
    CHECK(error <= 4 * x.promised);
    return error / (4 * x.promised);
}

/// Adds the product of the elements of K from `begin` to `end` to D, or writes it if it is the first slice.
void add_slice(const Run& x, uint64_t batch, uint64_t begin, uint64_t end, bool errors, std::vector<double>& want,
               double& reached) {
    const Problem& p = x.p.completed;
    std::vector<std::vector<double>> rows(p.m), cols(p.n);
    std::vector<Scaled> scaled_rows, scaled_cols;
    for (uint64_t i = 0; i < p.m; ++i) {
        for (uint64_t k = begin; k < end; ++k) rows[i].push_back(x.a[x.at_a(batch, i, k)]);
        scaled_rows.emplace_back(rows[i], x.is_wide());
    }
    for (uint64_t j = 0; j < p.n; ++j) {
        for (uint64_t k = begin; k < end; ++k) cols[j].push_back(x.b[x.at_b(batch, k, j)]);
        scaled_cols.emplace_back(cols[j], x.is_wide());
    }
    for (uint64_t i = 0; i < p.m; ++i)
        for (uint64_t j = 0; j < p.n; ++j) {
            const bool finite = scaled_rows[i].is_finite && scaled_cols[j].is_finite;
            double value = finite ? expected(scaled_rows[i], scaled_cols[j]) : sum_of_others(rows[i], cols[j]);
            if (errors && finite && std::isfinite(value) && x.alpha == 1 && x.beta == 0)
                reached = std::max(reached, check_error(x, rows[i], cols[j], scaled_rows[i], scaled_cols[j], value));
            value = x.alpha == 0 ? 0 : times(x.alpha, value);
            const uint64_t at = x.at_d(batch, i, j);
            if (begin > 0)
                value += want[at];
            else if (p.cSource != VKGEMM_C_NONE && x.beta != 0)
                value += times(x.beta, p.cSource == VKGEMM_C_IS_D ? x.before[at] : x.c[x.at_c(batch, i, j)]);
            want[at] = value;
        }
}

double clamped(double x, double low, double high) {
    const double at_least = x < low ? low : x;
    return high < at_least ? high : at_least;
}

/// The first 64 bits of a product of 128.
uint64_t high_product(uint64_t x, uint64_t y) {
    const uint64_t low = 0xffffffff, a = x & low, b = x >> 32, c = y & low, d = y >> 32;
    const uint64_t middle = (a * c >> 32) + (a * d & low) + (b * c & low);
    return b * d + (a * d >> 32) + (b * c >> 32) + (middle >> 32);
}

/// As the shader computes it: each operation on f64 is rounded to nearest, the series are whole numbers of 2^-62.
double exponential(double x) {
    if (std::isnan(x)) return x;
    const double bounded = clamped(x, -1500, 1500), n = std::nearbyint(times(bounded, 1.4426950408889634));
    const double r = bounded + times(n, -0.693147180369123816490) + times(n, -1.9082149292705877e-10);
    int of_r = 0;
    const uint64_t significand = ExactSum::significand(r, of_r);
    const int left = of_r + 64;
    const uint64_t size = left >= 0 ? significand << std::min(left, 63) : left > -64 ? significand >> -left : 0;
    uint64_t sum = 0, factorial = 6227020800;  // of 13
    for (uint64_t i = 14; i-- > 0; factorial /= std::max(i, uint64_t{1})) {
        const uint64_t term = ((uint64_t{1} << 62) + factorial / 2) / factorial, product = high_product(sum, size);
        sum = std::signbit(r) ? term - product : term + product;
    }
    ExactSum whole;
    whole.add(sum, 1, static_cast<int>(n) - 62, false);
    const double out = whole.rounded();
    // Off by at most 0.66 units of 2^-52, and std::exp by 0.51: their quotient, rounded, by at most one.
    if (out > 0x1p-1022 && std::isfinite(out)) CHECK(std::fabs(out / std::exp(x) - 1) < 0x1.8p-52);
    return out;
}

double activated(VkgemmStepKind kind, double x) {
    if (kind == VKGEMM_STEP_RELU) return x < 0 ? 0 : x;
    double power = -x;
    if (kind == VKGEMM_STEP_GELU) power = times(x, times(times(x, x), -0.071354816272600251) + -1.5957691216057308);
    return x / (1 + exponential(power));
}

double after_step(const Run& x, const vkgemm::plan::EpilogueStep& s, uint64_t batch, uint64_t row, uint64_t col,
                  double v) {
    const auto residual = [&] { return x.residual[x.at_d(batch, row, col)]; };
    const auto within = [&](uint64_t line) {
        return std::isnan(v) ? v : clamped(v, x.scale[2 * line], x.scale[2 * line + 1]);
    };
    switch (s.kind) {
        case VKGEMM_STEP_BIAS_ROW:
            return v + x.bias[row];
        case VKGEMM_STEP_BIAS_COL:
            return v + x.bias[col];
        case VKGEMM_STEP_SCALE_ROW:
            return times(v, x.scale[row]);
        case VKGEMM_STEP_SCALE_COL:
            return times(v, x.scale[col]);
        case VKGEMM_STEP_SCALE_ALL:
            return times(v, x.scale[0]);
        case VKGEMM_STEP_RESIDUAL:
            return v + residual();
        case VKGEMM_STEP_LEAKY_RELU:
            if (s.low == 0) return activated(VKGEMM_STEP_RELU, v);
            return v > 0 ? v : times(static_cast<double>(s.low), v);
        case VKGEMM_STEP_CLAMP:
            return clamped(v, static_cast<double>(s.low), static_cast<double>(s.high));
        case VKGEMM_STEP_CLAMP_ROW:
            return within(row);
        case VKGEMM_STEP_CLAMP_COL:
            return within(col);
        case VKGEMM_STEP_DRELU:
            return residual() <= 0 ? 0 : v;
        case VKGEMM_STEP_GATE_RELU:
            return times(v, activated(VKGEMM_STEP_RELU, residual()));
        case VKGEMM_STEP_GATE_GELU:
            return times(v, activated(VKGEMM_STEP_GELU, residual()));
        case VKGEMM_STEP_GATE_SILU:
            return times(v, activated(VKGEMM_STEP_SILU, residual()));
        default:
            return isCurve(s.kind) ? activated(s.kind, v) : applied(s, v);
    }
}

}  // namespace

double finished(const Run& x, uint64_t batch, uint64_t row, uint64_t col, double v) {
    for (const vkgemm::plan::EpilogueStep& s : x.p.completed.epilogue) v = after_step(x, s, batch, row, col, v);
    return v;
}

Count compare(const FromInt8& what, const Run& x, bool errors) {
    const Problem& p = x.p.completed;
    Count count;
    std::vector<double> want = x.before;
    constexpr uint64_t most_k = 131072, unit = 256;  // of a slice, which is a multiple of the unit
    const uint64_t slices = std::max<uint64_t>(1, (p.k + most_k - 1) / most_k);
    const uint64_t depth = slices == 1 ? p.k : ((p.k + slices - 1) / slices + unit - 1) / unit * unit;
    for (uint64_t batch = 0; batch < p.batch * p.outerBatch; ++batch)
        for (uint64_t slice = 0; slice < slices; ++slice)
            add_slice(x, batch, slice * depth, std::min(p.k, (slice + 1) * depth), errors, want, count.reached);
    for (uint64_t batch = 0; batch < p.batch * p.outerBatch; ++batch)
        for (uint64_t i = 0; i < p.m; ++i)
            for (uint64_t j = 0; j < p.n; ++j) {
                double& value = want[x.at_d(batch, i, j)];
                value = finished(x, batch, i, j, value);
            }
    count.elements = p.batch * p.outerBatch * p.m * p.n;
    for (size_t i = 0; i < want.size(); ++i)
        if (!same_bits(want[i], x.d[i]) && count.wrong++ == 0)
            count.first = vkgemm::plan::concat({what.line, " (", x.used, "), element ", i, ": ",
                                                vkgemm::numberText(x.d[i]), ", not ", vkgemm::numberText(want[i])});
    return count;
}

void check(const FromInt8& x, uint64_t seed, bool errors) {
    const Count count = compare(x, run(x, seed), errors);
    CHECK_MESSAGE(count.wrong == 0, count.wrong, " wrong elements of D: ", count.first);
    CHECK(count.elements > 0);
}

}  // namespace vkgemm::test::from_int8
