// SPDX-License-Identifier: MIT
// The rules of VkgemmProblem. Each function returns the reason against a problem, or "".
#pragma once
#include "plan/problem/problem.h"

namespace vkgemm::plan {

// Of a problem with its types:
std::string check_formats(const Problem&);
std::string check_grouping(const Problem&);
std::string check_c(const Problem&);
/// What is packed ahead has one size, and blocks are whole. `batched_a`, `batched_b`: A and B have matrices of their
/// own.
std::string check_up_to(const Problem&, bool batched_a, bool batched_b);
std::string check_epilogue(const Problem&);

// Of a problem with its strides:
/// D is written, so its matrices must not share elements.
std::string check_result_stride(const Problem&, bool broadcast_d);
/// The same of both levels: each stride is at least what all smaller ones reach over.
std::string check_outer_result_stride(const Problem&, bool broadcast_d);

}  // namespace vkgemm::plan
