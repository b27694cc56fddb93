// SPDX-License-Identifier: MIT
// What a case left in memory against the reference.
#pragma once
#include <array>
#include <string>
#include <vector>

#include "kernels/data.h"

namespace vkgemm::test {

inline constexpr std::array<const char*, VKGEMM_SLOT_COUNT> slot_names = {
    "A", "B", "C", "D", "bias", "scale", "residual", "workspace", "groups", "indices", "scalars", "B2", "bias2"};

/// A problem without what the API wants left out.
VkgemmProblem for_api(plan::Problem);

/// What the reference computes with: a kernel that is known to round A to MXINT8 is as exact as by default if A is
/// rounded so before. `a`: the numbers of the completed problem's A.
void round_like_kernel(const Case&, plan::Problem&, std::vector<double>& a);

/// Whether D may be `got`. `want` is the reference's value of an element of the completed problem.
bool acceptable(const Case&, const plan::Problem&, double got, Bounded want);

/// Are D, the bytes around it, the other operands and the scalars in the pool what they should be? "" or what is wrong.
/// `p`: the completed problem of the run. `error_bound`: the plan's.
std::string compare(const Case&, const plan::Problem& p, const Data&, double error_bound);

std::string say(double x);  // with all digits

}  // namespace vkgemm::test
