// SPDX-License-Identifier: MIT
// A problem on its way from the public structs to a choice: shared by the functions that make plans and those that
// explain them. Defined in api_plan.cpp.
#pragma once
#include "vk/context.h"

namespace vkgemm::vk {

struct PlannedProblem {
    plan::Problem given, problem;  // as the caller gave it, and completed
    plan::Choice choice;           // kernel null for an empty problem
    plan::Steps steps;
    plan::Normalised normalised;
    std::vector<plan::Bucket> buckets;  // if the problem has upTo; `choice` and `steps` are those of the last
    std::array<plan::Steps, 2> packs;   // as VkgemmPlan_T has them
    std::string fallback;               // why VKGEMM_KERNEL was not followed; "" if it was, or is not set
};

/// The options (may be null) as src/plan has them, or what is wrong with them whatever the problem. `flags` gets
/// VkgemmPlanOptions::flags; it may be null.
plan::Result<plan::Request> request_from(const VkgemmPlanOptions*, const VkgemmContext_T&, uint32_t* flags = nullptr);

plan::Result<PlannedProblem> plan_problem(const VkgemmContext_T&, const VkgemmProblem*, const plan::Request&);

}  // namespace vkgemm::vk
