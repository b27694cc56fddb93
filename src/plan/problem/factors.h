// SPDX-License-Identifier: MIT
// alpha and beta on their way into a dispatch.
#pragma once
#include "plan/problem/problem.h"
#include "shaders/abi.h"

namespace vkgemm::plan {

/// Does the accumulator hold it as 0 or -0? A small number may be 0 there.
bool is_zero_factor(double x, Type accumulator);

/// Why a run of this problem, which is completed, cannot have these; nothing where it can.
std::optional<Refusal> unfit_factors(const Problem&, double alpha, double beta);

/// Gives a dispatch its factors, which are fit. Where alpha is 0 it sums over nothing, and reads nothing of A and B.
void set_factors(abi::GemmArgs&, double alpha, double beta, Type accumulator);

}  // namespace vkgemm::plan
