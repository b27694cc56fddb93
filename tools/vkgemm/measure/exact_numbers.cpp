// SPDX-License-Identifier: MIT
#include "measure/exact_numbers.h"

#include <algorithm>
#include <array>

#include "measure/in_parallel.h"
#include "measure/numbers.h"
#include "vkgemm/rounding.hpp"

namespace vkgemm::tool {
namespace {

constexpr uint64_t numbers_of_thread = uint64_t{1} << 18;  // numbers that are worth a thread

/// Has 1 and -10, and no others up to 12: neither 0 nor the negative of any.
bool has_few(const MatrixInfo& m) { return m.type == VKGEMM_TYPE_IQ4_NL; }
bool has_negatives(const MatrixInfo& m) { return m.type != u8 && !has_few(m); }
/// The largest size of the numbers that random_numbers() gives.
int largest(const MatrixInfo& m, int range) { return has_few(m) ? 10 : range; }

/// Numbers from 1 to `range`, of either sign where the type has one: none is 0, so that each counts.
std::vector<int8_t> random_numbers(const MatrixInfo& matrix, uint64_t matrices, int range, uint64_t seed) {
    if (matrix.type == VKGEMM_TYPE_MXFP4 || matrix.type == VKGEMM_TYPE_NVFP4)
        range = std::min(range, 4);    // which have no 5
    std::array<int8_t, 256> number{};  // for a random byte, so that one random number does for eight
    for (size_t i = 0; i < number.size(); ++i) {
        const auto size = static_cast<int8_t>(1 + i / 2 * static_cast<size_t>(range) / 128);
        number[i] = static_cast<int8_t>(has_few(matrix)              ? (i % 2 ? -10 : 1)
                                        : i % 2 && matrix.type != u8 ? -size
                                                                     : size);
    }
    std::vector<int8_t> v(matrices * matrix.rows * matrix.cols);
    in_parallel(divUp(v.size(), 8), numbers_of_thread, [&](uint64_t first, uint64_t end) {
        Random random{seed};
        random.skip(first);
        for (uint64_t i = 8 * first; i < std::min<uint64_t>(8 * end, v.size()); i += 8)
            for (uint64_t bits = random.next(), j = i; j < std::min<uint64_t>(i + 8, v.size()); ++j, bits >>= 8)
                v[j] = number[bits & 255];
    });
    return v;
}

/// The next number that 7 does not divide: steps of 7 along the rows then come past every place of a period.
uint64_t without_seven(uint64_t period) { return period % 7 ? period : period + 1; }

uint64_t parts_of(uint64_t whole, int64_t most) {
    const auto part = static_cast<uint64_t>(std::max<int64_t>(1, most));
    return std::max<uint64_t>(1, divUp(whole, part));
}

/// Which k of a row count, and how: k and last - k are a pair, and one pair of `alone` does not come to 0.
struct Pairs {
    uint64_t half, last, alone;
    uint64_t active;            // one pair of so many is there at all
    std::vector<int8_t> signs;  // of B's second half by its first; empty: the types have no sign, nothing is taken back
};

/// Likewise of numbers without 0 and without negatives, which B takes back. If B cannot, all blocks but one are 0, by
/// their scales.
void pair_up_few(int8_t* row, const Pairs& p, uint64_t k, uint64_t block, uint64_t number) {
    for (uint64_t i = 0; i < p.half && !p.signs.empty(); ++i) {
        const bool alone = i % p.alone == number % p.alone;
        row[p.last - i] = static_cast<int8_t>(alone ? -9 - row[i] : row[i]);  // 1 for -10, and -10 for 1
    }
    for (uint64_t i = 0; i < k && p.signs.empty(); ++i) row[i] = i / block == number % (k / block) ? 1 : 0;
}

// NOLINTNEXTLINE(readability-non-const-parameter): it is written through `first` and `second`
void pair_up(int8_t* row, const Pairs& p, uint64_t number) {
    for (uint64_t i = 0; i < p.half; ++i) {
        int8_t &first = row[i], &second = row[p.last - i];
        const bool alone = i % p.alone == number % p.alone, there = i % p.active == number % p.active;
        if (!alone && (!there || p.signs.empty()))
            first = second = 0;
        else if (p.signs.empty())
            ((i + number) / p.alone % 2 ? first : second) = 0;
        else if (alone)  // more is taken back than was added
        {
            first = static_cast<int8_t>(first > 0 ? 1 : -1);
            second = static_cast<int8_t>(-2 * p.signs[i] * first);
        } else
            second = static_cast<int8_t>(-p.signs[i] * first);
    }
}

}  // namespace

ExactNumbers exact_numbers(const Resolved& resolved, uint64_t k, const ExactLimits& limits, uint64_t seed) {
    const uint64_t of_a = resolved.a.matrices(), of_b = resolved.b.matrices();
    const auto numbers = [&](int range) {
        return ExactNumbers{random_numbers(resolved.a, of_a, range, 2 * seed + 1),
                            random_numbers(resolved.b, of_b, range, 2 * seed + 2)};
    };
    const int64_t sum_limit = limits.sum - ExactLimits::others;
    for (int range = 7; range >= 1; --range)
        if (const int64_t most = static_cast<int64_t>(k) * largest(resolved.a, range) * largest(resolved.b, range);
            2 * most <= sum_limit && most <= limits.terms)
            return numbers(range);

    constexpr int range = 2;
    const int64_t term = int64_t{largest(resolved.a, range)} * largest(resolved.b, range);
    const int64_t left = has_few(resolved.a) ? 11 * largest(resolved.b, range) : term;  // of a pair that is alone
    // An odd k has its last without a partner.
    const int64_t lonely = sum_limit / (2 * left) - static_cast<int64_t>(k % 2);
    Pairs p = {.half = k / 2,
               .last = k - 1,
               .alone = without_seven(parts_of(k / 2, lonely)),
               .active = without_seven(
                   parts_of(k * static_cast<uint64_t>(term), limits.terms - 3 * limits.sum / 4 - 2 * term)),
               .signs = {}};
    const bool signless_a = !has_negatives(resolved.a), signless_b = !has_negatives(resolved.b);
    Random random{seed ^ 0x5eed};
    for (uint64_t i = 0; i < p.half && !(signless_a && signless_b); ++i)
        p.signs.push_back(signless_a || (!signless_b && random.next() & 1) ? -1 : 1);

    ExactNumbers v = numbers(range);
    in_parallel(of_a * resolved.a.rows, numbers_of_thread / k + 1, [&](uint64_t line, uint64_t end) {
        for (; line < end; ++line) {
            const uint64_t number = line / resolved.a.rows + line % resolved.a.rows * 7 + seed;
            if (has_few(resolved.a))
                pair_up_few(&v.a[line * k], p, k, resolved.a.block, number);
            else
                pair_up(&v.a[line * k], p, number);
        }
    });
    const uint64_t rows = p.signs.size(), cols = resolved.b.cols;
    in_parallel(of_b * rows, numbers_of_thread / std::max<uint64_t>(cols, 1) + 1, [&](uint64_t row, uint64_t end) {
        for (; row < end; ++row) {
            const uint64_t matrix = row / rows, i = row % rows;
            const int8_t* const first = &v.b[(matrix * k + i) * cols];
            int8_t* const second = &v.b[(matrix * k + p.last - i) * cols];
            for (uint64_t col = 0; col < cols; ++col) second[col] = static_cast<int8_t>(p.signs[i] * first[col]);
        }
    });
    return v;
}

}  // namespace vkgemm::tool
