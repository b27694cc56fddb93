// SPDX-License-Identifier: MIT
// Between the public structs and the plain data of src/plan: words checked, defaults kept, text cut to fit.
#pragma once
#include "plan/problem/problem_text.h"
#include "vk/versioned.h"

namespace vkgemm::vk {

/// The public code of a refusal, and its words in *error (may be null).
VkgemmResult to_result(VkgemmError* error, const plan::Refusal&);
VkgemmResult to_result(VkgemmError* error, VkgemmResult positive, std::string_view text);
VkgemmResult success(VkgemmError* error);

/// Writes text by the rule of vkgemmFormatProblem. *size: in, the room; out, the need.
VkgemmResult copy_text(std::string_view text, char* to, size_t* size);

/// Enum values that do not exist and broken counts are refused; the problem is not completed yet.
plan::Result<plan::Problem> problem_from(const VkgemmProblem*);
VkgemmProblem problem_to(const plan::Problem&);

VkgemmType type_to(plan::Type);

}  // namespace vkgemm::vk
