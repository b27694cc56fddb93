// SPDX-License-Identifier: MIT
// GEMM on the host, one element at a time, with the rounding error that a device is allowed at that element.
#pragma once
#include <cstdint>
#include <vector>

#include "plan/problem/problem.h"

namespace vkgemm::test {

/// Every operand as numbers, padding and gaps included: element (batch, row, column) lies where its Matrix says.
struct Operands {
    std::vector<double> a, b, c, d, bias, scale, residual;
};

/// Where an element of a completed matrix lies, counted in elements from the operand's start.
uint64_t position(const plan::Matrix& matrix, uint64_t batch, uint64_t row, uint64_t col);

/// A number and how far a correct device may be from it.
struct Bounded {
    double value = 0, error = 0;
};

/// Element (batch, row, col) of D before it is rounded to D's type; `in.d` holds what D held before.
/// The bound is running error analysis, with u the unit roundoff of the accumulator: (k + 2) u sum|a b| for the sum in
/// any order, fused or not, then one u for every later operation, then that of D's type, and what flushed subnormals
/// may lose.
Bounded reference(const plan::Problem& completed, double alpha, double beta, const Operands& in, uint64_t batch,
                  uint64_t row, uint64_t col);

/// The largest r such that integers in [-r, r] multiply and sum over k exactly in any order, where integers up to
/// 2^digits_in are exact in the operands and up to 2^digits_acc in the accumulator; 0 if there is none.
int64_t exact_range(int digits_in, int digits_acc, uint64_t k);

/// Ranges of whole numbers for which every correct kernel agrees bit for bit with the reference.
struct ExactFill {
    int64_t ab = 0;      // a and b in [-ab, ab]; 0: there is no such range
    int64_t others = 0;  // c, bias, residual in [-others, others]; scales are 1, 2 and -1
};
ExactFill exact_fill(const plan::Problem& completed, double alpha, double beta);

}  // namespace vkgemm::test
