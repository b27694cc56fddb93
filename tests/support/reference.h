// SPDX-License-Identifier: MIT
// GEMM on the host, one element at a time, with the largest rounding error that a device may make at that element.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "plan/problem/problem.h"

namespace vkgemm::test {

/// Every operand as numbers, with its padding and gaps: position() is the index of an element.
struct Operands {
    std::vector<double> a, b, c, d, bias, scale, residual, b2, bias2;
};

/// The index of an element of a completed matrix, in elements from the operand's start.
uint64_t position(const plan::Matrix& matrix, uint64_t batch, uint64_t row, uint64_t col);

/// The same for product number `batch` of all levels of a completed problem, the outer one moving last; `operand` is
/// 0 to 3 for A, B, C, D.
uint64_t position(const plan::Problem& completed, size_t operand, uint64_t batch, uint64_t row, uint64_t col);

/// A number, and the largest difference from it that a correct device may have.
struct Bounded {
    double value = 0, error = 0;
    std::optional<double> before{};  // of a D of i8: the number that became `value`
};

/// Element (row, col) of D of product number `batch` before it is rounded to D's type; `in.d` holds the values of D
/// before the run. The bound is a running error analysis, where u is the unit roundoff of the accumulator:
/// (k + 2) u sum|a b| for the sum in any order, fused or not; one u for every later operation; one unit roundoff of D's
/// type; and what flushed subnormals may lose.
Bounded reference(const plan::Problem& completed, double alpha, double beta, const Operands& in, uint64_t batch,
                  uint64_t row, uint64_t col);

/// reference() of the elements of one product, for callers that want most of them: each line of D is summed up at once.
/// Problem and operands must live on.
class References {
   public:
    /// few_rows: only some rows of D are wanted.
    References(const plan::Problem& completed, double alpha, double beta, const Operands& in, uint64_t batch,
               bool few_rows = false);
    Bounded operator()(uint64_t row, uint64_t col);

   private:
    double element(bool of_a, uint64_t line, uint64_t k) const;
    void pack();
    void add(uint64_t line);

    const plan::Problem& p_;
    double alpha_, beta_;
    const Operands& in_;
    uint64_t batch_;
    bool by_rows_, floats_, wide_;  // a line is a row; the sums are floats; they are f64
    uint64_t lines_, length_;
    std::array<uint64_t, 2> begin_{};
    std::vector<bool> done_;                // empty: nothing is summed up
    std::vector<double> across_, factors_;  // the operand that all lines meet, by k; its magnitudes, summed over k
    std::vector<double> sums_, sizes_, narrowed_;
    std::vector<long double> wide_sums_;
    std::vector<uint32_t> whole_across_, whole_sums_;
};

/// Whether the step has a smooth function, as GELU is, of the value or of a gate: what it is made of is not exact.
bool is_curve(VkgemmStepKind);

/// The largest r such that integers in [-r, r] multiply and sum over k exactly in any order, where integers up to
/// 2^digits_in are exact in the operands and up to 2^digits_acc in the accumulator; 0 if there is none.
int64_t exact_range(int digits_in, int digits_acc, uint64_t k);

/// Ranges of whole numbers for which every correct kernel agrees bit for bit with the reference.
struct ExactFill {
    int64_t ab = 0;      // a and b are in [-ab, ab]; 0 if there is no such range
    int64_t others = 0;  // c, bias and residual are in [-others, others]; scales are 1, 2 and -1
};
ExactFill exact_fill(const plan::Problem& completed, double alpha, double beta);

}  // namespace vkgemm::test
