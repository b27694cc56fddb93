// SPDX-License-Identifier: MIT
// A sum of products of f64, or of whole numbers, without any rounding.
#pragma once
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace vkgemm::test {

class ExactSum {
   public:
    /// Adds x * y * 2^exponent, or subtracts it. At most 2^30 times. The exponent is at least `lowest`.
    void add(uint64_t x, uint64_t y, int exponent, bool negative) {
        const auto at = static_cast<size_t>(exponent - lowest);
        const uint32_t shift = at % 32;
        const uint64_t factors[] = {x & low_word, x >> 32, y & low_word, y >> 32};
        for (size_t i = 0; i < 2; ++i)
            for (size_t j = 0; j < 2; ++j) {
                const uint64_t product = factors[i] * factors[2 + j], high = shift ? product >> (64 - shift) : 0;
                const uint64_t low = product << shift;
                const auto put = [&](size_t digit, uint64_t value) {
                    digits_[at / 32 + i + j + digit] += negative ? -int64_t(value) : int64_t(value);
                };
                put(0, low & low_word);
                put(1, low >> 32);
                put(2, high);
            }
    }
    void add(double x, double y, bool negative = false) {
        int of_x = 0, of_y = 0;
        const uint64_t p = significand(x, of_x), q = significand(y, of_y);
        add(p, q, of_x + of_y, (std::signbit(x) != std::signbit(y)) != negative);
    }

    /// -1, 0 or 1.
    int sign() const {
        const ExactSum x = carried();
        for (const int64_t d : x.digits_)
            if (d) return x.is_negative() ? -1 : 1;
        return 0;
    }
    /// The nearest f64, ties to even; 0 has no sign.
    double rounded() const {
        const int of = sign();
        if (of == 0) return 0;
        const ExactSum x = magnitude(of);
        const int top = x.top_bit(), unit = top - 52 > -1074 - lowest ? top - 52 : -1074 - lowest;
        uint64_t kept = 0;
        for (int i = top; i >= unit; --i) kept = kept << 1 | x.bit(i);
        bool more = false;
        for (int i = 0; i < unit - 1; ++i) more = more || x.bit(i);
        if (x.bit(unit - 1) && (more || kept & 1)) ++kept;
        return of * std::ldexp(static_cast<double>(kept), unit + lowest);
    }
    /// |this| / 2^scale, nearly.
    double over(int scale) const {
        const int of = sign();
        if (of == 0) return 0;
        const ExactSum x = magnitude(of);
        double out = 0;
        const int top = x.top_bit();
        for (int i = top; i > top - 53 && i >= 0; --i)
            if (x.bit(i)) out += std::ldexp(1.0, i + lowest - scale);
        return out;
    }

    /// A finite x is `significand` times 2^exponent.
    static uint64_t significand(double x, int& exponent) {
        const double fraction = std::frexp(std::fabs(x), &exponent);
        exponent = x == 0 ? 0 : exponent - 53;
        return static_cast<uint64_t>(std::ldexp(fraction, 53));
    }

   private:
    static constexpr int lowest = -2432;  // what the first digit counts; a multiple of 32
    static constexpr uint64_t low_word = 0xffffffff;

    std::array<int64_t, 160> digits_{};  // of 32 bits, the least significant one first

    bool is_negative() const { return digits_.back() < 0; }
    ExactSum carried() const {
        ExactSum out = *this;
        for (size_t i = 0; i + 1 < out.digits_.size(); ++i) {
            out.digits_[i + 1] += out.digits_[i] >> 32;
            out.digits_[i] &= int64_t{low_word};
        }
        return out;
    }
    ExactSum magnitude(int of) const {
        ExactSum out = *this;
        if (of < 0)
            for (int64_t& d : out.digits_) d = -d;
        return out.carried();
    }
    uint64_t bit(int i) const { return i < 0 ? 0 : uint64_t(digits_[size_t(i) / 32]) >> (i % 32) & 1; }
    int top_bit() const {
        int i = static_cast<int>(digits_.size()) * 32 - 1;
        while (!bit(i)) --i;
        return i;
    }
};

}  // namespace vkgemm::test
