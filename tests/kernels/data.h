// SPDX-License-Identifier: MIT
// What the operands of a case hold before it runs.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/run.h"
#include "support/guarded.h"
#include "support/random.h"
#include "support/reference.h"

namespace vkgemm::test {

inline bool has_residual(const plan::Problem& p) {
    return std::any_of(p.epilogue.begin(), p.epilogue.end(),
                       [](const plan::EpilogueStep& s) { return plan::info(s.kind).operand == VKGEMM_SLOT_RESIDUAL; });
}
/// The step that reads the bias, or the scale; null: there is none.
inline const plan::StepInfo* reader_of(const plan::Problem& p, VkgemmSlot slot) {
    for (const plan::EpilogueStep& s : p.epilogue)
        if (plan::info(s.kind).operand == slot) return &plan::info(s.kind);
    return nullptr;
}
inline uint64_t vector_length(const plan::Problem& p, VkgemmSlot slot) {
    const plan::StepInfo* const step = reader_of(p, slot);
    if (!step || step->shape == plan::StepShape::ONE) return step ? 1 : 0;
    return (step->is_of_rows() ? p.m : p.n) * step->width();
}

/// The ranges of exact operands. A factor that is not finite has none, whatever they are.
inline ExactFill exact_fill_of(const plan::Problem& p, const Case& x) {
    const auto finite = [](double factor) { return std::isfinite(factor) ? factor : 1; };
    return exact_fill(p, finite(x.alpha), finite(x.beta));
}

inline bool is_inexact(Fill fill, VkgemmAccuracy accuracy) {
    if (fill == Fill::digits) return accuracy == VKGEMM_ACCURACY_F32_SPLIT_ROWS;
    return fill == Fill::random || fill == Fill::wide || fill == Fill::great || fill == Fill::scaled;
}

/// The operands of one case on the host. What the problem forbids to read stays poison.
struct Data {
    Guarded a, b, c, d, bias, scale, residual, b2, bias2;
    VkgemmScalars scalars{.alpha = NAN, .beta = NAN, .low = NAN, .high = NAN, .nonFinite = 0, .largest = 7};

    Data(const Case& x, const plan::Problem& p)
        : a(of(p, VKGEMM_SLOT_A, p.a.type, true, x)),
          b(of(p, VKGEMM_SLOT_B, p.b.type, true, x)),
          c(of(p, VKGEMM_SLOT_C, p.c.type, p.cSource == VKGEMM_C_SEPARATE, x)),
          d(of(p, VKGEMM_SLOT_D, p.d.type, true, x)),
          bias(Guarded::vector(p.biasType, vector_length(p, VKGEMM_SLOT_BIAS), x.shift_of(VKGEMM_SLOT_BIAS))),
          scale(Guarded::vector(p.scaleType, vector_length(p, VKGEMM_SLOT_SCALE), x.shift_of(VKGEMM_SLOT_SCALE))),
          residual(of(p, VKGEMM_SLOT_D, p.residualType, has_residual(p), x, VKGEMM_SLOT_RESIDUAL)),
          b2(of(p, VKGEMM_SLOT_B, p.b.type, plan::is_pair(p), x)),
          bias2(Guarded::vector(p.biasType, plan::is_biased_pair(p) ? vector_length(p, VKGEMM_SLOT_BIAS) : 0,
                                x.shift_of(VKGEMM_SLOT_BIAS))) {
        const std::array<double, 3> specials = {NAN, INFINITY, -INFINITY};
        Random random(x.seed);
        const ExactFill range = exact_fill_of(p, x);
        const auto number = [&](int64_t most, plan::Type type) {
            const bool floats = plan::info(type).is_float;
            if (x.fill == Fill::special && floats && random.one_in(60)) return random.pick(specials);
            if (!is_inexact(x.fill, p.accuracy) || !floats)
                return static_cast<double>(random.between(type == plan::u8 ? 0 : -most, most));
            return rounded(type, 2 * random.unit() - 1);
        };
        const auto fill = [&](Guarded& g, int64_t most) { g.fill([&] { return number(most, g.type()); }); };
        const std::array<double, 3> factors = {1, 2, plan::is_scaled(p) ? -0.5 : -1};
        if (x.alpha != 0) {
            fill(a, most_of(p.a.type, range.ab));
            fill(b, most_of(p.b.type, range.ab));
            fill(b2, most_of(p.b.type, range.ab));
        }
        if (x.beta != 0 && p.cSource == VKGEMM_C_SEPARATE) fill(c, range.others);
        if (x.beta != 0 && p.cSource == VKGEMM_C_IS_D) fill(d, range.others);
        fill(bias, range.others);
        fill(bias2, range.others);
        fill(residual, range.others);
        scale.fill([&] { return random.pick(factors); });
        const plan::StepInfo* const scales = reader_of(p, VKGEMM_SLOT_SCALE);
        if (scales && scales->width() == 2)  // bounds: the lower one comes first
            scale.change([&](double, uint64_t, uint64_t i) {
                return i % 2 ? 5 + static_cast<double>(random.below(20)) : 4 - static_cast<double>(random.below(20));
            });
        set_scalars(x, p);
        if (x.alias != Alias::none) d = x.alias == Alias::c ? c : residual;
        if (x.fill == Fill::wide) widen(p);
        if (x.fill == Fill::great) {
            a.change(first_times<63>);
            b.change(first_times<64, true>);
        }
        if (x.fill == Fill::scaled) a.change(of_row);
        if (x.fill == Fill::digits) pick_digits(random, p.k, x.seed % 2 == 0);
        if (x.fill == Fill::placed && p.k != 0) place(specials[x.seed % 3], x.seed / 6 % p.k, x.seed / 3 % 2 != 0);
    }

    static Guarded of(const plan::Problem& p, VkgemmSlot like, plan::Type type, bool is_there, const Case& from,
                      std::optional<VkgemmSlot> slot = std::nullopt) {
        const plan::Operand x = plan::operands(p)[like];
        return Guarded(type, *x.matrix, is_there ? x.rows : 0, x.cols, x.batch, from.shift_of(slot.value_or(like)),
                       x.outer, x.outer_stride);
    }

    /// What the problem has in memory; the rest stays poison.
    void set_scalars(const Case& x, const plan::Problem& p) {
        if (p.scalars & VKGEMM_SCALARS_ALPHA) scalars.alpha = static_cast<float>(x.alpha);
        if (p.scalars & VKGEMM_SCALARS_BETA) scalars.beta = static_cast<float>(x.beta);
        for (const plan::EpilogueStep& s : p.epilogue)
            if (s.kind == VKGEMM_STEP_CLAMP && (p.scalars & VKGEMM_SCALARS_CLAMP)) {
                scalars.low = s.low;
                scalars.high = s.high;
            }
        if (!(p.scalars & VKGEMM_SCALARS_MONITOR)) scalars.nonFinite = 7;  // which must stay
        if (p.scalars & VKGEMM_SCALARS_LARGEST) scalars.largest = 0;
    }

    /// What a block format holds with scales of 1. iq4_nl has few whole numbers, but none of those nearest is above 10.
    static int64_t most_of(plan::Type type, int64_t most) {
        const plan::TypeInfo& info = plan::info(type);
        return info.is_plain() ? most : std::min(most, (int64_t{1} << (info.exact_bits ? info.exact_bits : 3)) - 1);
    }

    static double times(double value, int power) {  // no number so small that a device may take it for 0
        return std::ldexp(std::copysign(0.5 + std::fabs(value) / 2, value), power);
    }
    template <int power, bool is_b = false>
    static double first_times(double value, uint64_t row, uint64_t col) {
        return times(value, (is_b ? row : col) == 0 ? power : 0);
    }

    static double of_row(double value, uint64_t row, uint64_t k) {
        constexpr int powers[] = {90, -125, 0, -118, 1};
        if (row % 6 == 5) return 0;
        if (row % 6 == 4 && k % 3 == 0) return std::copysign(2 - 0x1p-9, value);  // 127.9 when the largest is 64 to 128
        return std::ldexp(value, powers[row % 6]);
    }

    void pick_digits(Random& random, uint64_t depth, bool of_b) {
        const auto digits = [&](double, uint64_t, uint64_t) { return rounded(plan::f32, 2 * random.unit() - 1); };
        const auto picks = [&](uint64_t k, uint64_t line) {
            return k != (7 * line + 3) % depth ? 0 : std::ldexp(line % 2 ? -1 : 1, static_cast<int>(line % 5) - 2);
        };
        if (of_b) {
            a.change([&](double, uint64_t row, uint64_t k) { return picks(k, row); });
            b.change(digits);
        } else {
            a.change(digits);
            b.change([&](double, uint64_t k, uint64_t col) { return picks(k, col); });
        }
    }

    void place(double special, uint64_t at, bool in_b) {
        a.change([&](double value, uint64_t row, uint64_t k) {
            return k != at ? value : !in_b && row % 3 == 0 ? special : 1;
        });
        b.change([&](double value, uint64_t k, uint64_t col) {
            return k != at ? value : in_b && col % 3 == 0 ? special : 1;
        });
        b2.change([&](double value, uint64_t k, uint64_t col) {
            return k != at ? value : in_b && col % 3 == 1 ? special : 1;
        });
    }

    void widen(const plan::Problem& p) {
        const bool by_row = p.accuracy == VKGEMM_ACCURACY_F32_SPLIT_ROWS;
        const auto exponent = [&](uint64_t row, uint64_t k) {
            return static_cast<int>((k * 97 + (by_row ? row * 31 : 0)) % 241) - 120;
        };
        a.change([&](double value, uint64_t row, uint64_t k) { return times(value, exponent(row, k)); });
        if (!by_row) b.change([&](double value, uint64_t k, uint64_t) { return times(value, -exponent(0, k)); });
    }

    /// In the order of `slots`.
    std::array<const Guarded*, 9> all() const { return {&a, &b, &c, &d, &bias, &scale, &residual, &b2, &bias2}; }
    static constexpr std::array<VkgemmSlot, 9> slots = {VKGEMM_SLOT_A,        VKGEMM_SLOT_B,    VKGEMM_SLOT_C,
                                                        VKGEMM_SLOT_D,        VKGEMM_SLOT_BIAS, VKGEMM_SLOT_SCALE,
                                                        VKGEMM_SLOT_RESIDUAL, VKGEMM_SLOT_B2,   VKGEMM_SLOT_BIAS2};
    Operands numbers() const {
        return {.a = a.numbers(),
                .b = b.numbers(),
                .c = c.numbers(),
                .d = d.numbers(),
                .bias = bias.numbers(),
                .scale = scale.numbers(),
                .residual = residual.numbers(),
                .b2 = b2.numbers(),
                .bias2 = bias2.numbers()};
    }
};

}  // namespace vkgemm::test
