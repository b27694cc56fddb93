// SPDX-License-Identifier: MIT
// Runs of f64 from products of int8 (accuracy=f64_split), and what they must give to the last bit.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/problem/problem_text.h"
#include "support/device.h"
#include "support/random.h"

namespace vkgemm::test::from_int8 {

using vkgemm::plan::Problem;

// The moduli: 15 of f64_split, all of f64_split_wide. Their product less 2, halved, is the largest magnitude that can
// be found again.
inline constexpr uint32_t moduli[] = {256, 255, 253, 251, 247, 241, 239, 233, 229,
                                      227, 223, 217, 211, 199, 197, 193, 191, 181};
/// That, in digits of 32 bits, the least significant one first.
std::array<uint32_t, 5> largest(bool wide);
/// That times 2^-scale, nearly.
double largest_over(bool wide, int scale);

/// What kinds of elements A and B have.
enum class Values { phi_half, phi_1, phi_2, phi_4, huge, subnormal, powers, whole, any, edge, pairs, special, cut };
inline constexpr Values finite_fills[] = {Values::phi_half, Values::phi_1,     Values::phi_2,  Values::phi_4,
                                          Values::huge,     Values::subnormal, Values::powers, Values::whole,
                                          Values::any,      Values::edge};

/// A context without what f64 from int8 can do without: f64, elements of 8 bits and, if the device can push
/// descriptors, addresses.
const vkgemm::Context& bare();

struct FromInt8 {
    std::string line;
    Values fill = Values::phi_1;
    const vkgemm::Context* context = nullptr;  // null: the device's
    uint64_t workspace = uint64_t{1} << 30;
    const char* kernel = nullptr;
    bool wide = false;                          // f64_split_wide
    bool residual_is_d = false;                 // or an operand of its own
    std::optional<vkgemm::Sizes> sizes{};       // of the run; nullopt: the problem's
    std::optional<VkgemmRunStrides> strides{};  // likewise
};

/// Operands and results of one run.
struct Run {
    vkgemm::plan::PreparedProblem p;  // with the run's sizes
    double alpha, beta;
    std::vector<double> a{}, b{}, c{}, d{}, before{}, bias{}, scale{}, residual{};  // before: what D held
    double promised = 0;
    std::string used{};

    bool is_wide() const { return p.completed.accuracy == VKGEMM_ACCURACY_F64_SPLIT_WIDE; }
    uint64_t at(const vkgemm::plan::Matrix& x, uint64_t outer_stride, uint64_t ratio, uint64_t outer_ratio,
                uint64_t batch, uint64_t row, uint64_t col) const {
        const uint64_t inner = batch % p.completed.batch / ratio, outer = batch / p.completed.batch / outer_ratio;
        return outer * outer_stride + inner * x.batchStride +
               (x.layout == vkgemm::plan::rowMajor ? row * x.ld + col : col * x.ld + row);
    }
    uint64_t at_a(uint64_t batch, uint64_t row, uint64_t k) const {
        const Problem& q = p.completed;
        return at(q.a, q.outerStrideA, q.ratioA, q.outerRatioA, batch, row, k);
    }
    uint64_t at_b(uint64_t batch, uint64_t k, uint64_t col) const {
        const Problem& q = p.completed;
        return at(q.b, q.outerStrideB, q.ratioB, q.outerRatioB, batch, k, col);
    }
    uint64_t at_d(uint64_t batch, uint64_t row, uint64_t col) const {
        return at(p.completed.d, p.completed.outerStrideD, 1, 1, batch, row, col);
    }
    uint64_t at_c(uint64_t batch, uint64_t row, uint64_t col) const {
        return at(p.completed.c, p.completed.outerStrideC, 1, 1, batch, row, col);
    }
};

/// With operands that the seed draws.
Run run(const FromInt8&, uint64_t seed);

/// Elements of D that were compared.
struct Count {
    size_t elements = 0, wrong = 0;
    double reached = 0;  // of the promised bound, by the largest error
    std::string first{};
};

/// Compares every element of D, and what is between them, with what integers give; with `errors`, also with the bound.
Count compare(const FromInt8&, const Run&, bool errors);

/// D after the epilogue's steps, each operation of which is rounded, of an element of D before them.
double finished(const Run&, uint64_t batch, uint64_t row, uint64_t col, double x);

/// Runs and compares.
void check(const FromInt8&, uint64_t seed = 1, bool errors = false);

}  // namespace vkgemm::test::from_int8
