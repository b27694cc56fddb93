// SPDX-License-Identifier: MIT
// alpha and beta, as a dispatch takes them.
#pragma once
#include "plan/problem/problem.h"
#include "shaders/abi.h"

namespace vkgemm::plan {

/// Whether `x` is 0 or -0 once it is converted to the accumulator's type.
bool is_zero_factor(double x, Type accumulator);

/// The reason why a run of this completed problem cannot have these factors, if there is one.
std::optional<Status> unfit_factors(const Problem&, double alpha, double beta);

/// Sets the factors of a dispatch; they must be fit. If alpha is 0, the dispatch does not read A and B.
void set_factors(abi::GemmArgs&, double alpha, double beta, Type accumulator);

}  // namespace vkgemm::plan
