// SPDX-License-Identifier: MIT
// Checks of what the caller passes, and copies of results and texts to the caller.
#pragma once
#include "plan/problem/problem_text.h"
#include "vk/versioned.h"

namespace vkgemm::vk {

/// Writes text and vkResult to *error, which may be null, and returns the code.
VkgemmResult to_result(VkgemmError* error, const Status&);
VkgemmResult to_result(VkgemmError* error, VkgemmResult positive, std::string_view text);
VkgemmResult success(VkgemmError* error);

/// Writes text by the rule of vkgemmFormatProblem. *size: in, the bytes at `to`; out, the bytes needed.
VkgemmResult copy_text(std::string_view text, char* to, size_t* size);

/// Refuses values outside their enums, unknown bits, and an epilogue that is too long. The problem is not completed.
Result<Problem> problem_from(const VkgemmProblem*);

/// Fills the caller's `out` with `filled`. Refused if `out` is of an older version and lacks a field that is needed.
std::optional<Status> write_problem(const VkgemmProblem& filled, VkgemmProblem* out);

}  // namespace vkgemm::vk
