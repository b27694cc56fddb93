// SPDX-License-Identifier: MIT
// What the caller asks for, read from the public structs and planned: for the functions that make plans and those that
// explain them.
#pragma once
#include "vk/context.h"

namespace vkgemm::vk {

/// The options (may be null) as src/plan has them, or what is wrong with them whatever the problem. `flags` gets
/// VkgemmPlanOptions::flags; it may be null.
plan::Result<plan::Request> request_from(const VkgemmPlanOptions*, const VkgemmContext_T&, uint32_t* flags = nullptr);

/// plan::make_plan() for the caller's problem.
plan::Result<plan::Plan> plan_problem(const VkgemmContext_T&, const VkgemmProblem*, const plan::Request&);

}  // namespace vkgemm::vk
