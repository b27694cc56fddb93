// SPDX-License-Identifier: MIT
// A plan's pipelines: which it needs, and how it gets them. Safe from several threads.
#pragma once
#include <memory>

#include "vk/context.h"

namespace vkgemm::vk {

/// A step for each pipeline that the plan needs, in the order in which they are compiled.
std::vector<plan::Step> pipeline_steps(const VkgemmPlan_T&);

/// The handle of a plan, with the pipelines that its flags (VkgemmPlanFlagBits) ask for.
plan::Result<std::unique_ptr<VkgemmPlan_T>> make_handle(VkgemmContext, plan::Plan, VkgemmOperandKind, uint32_t flags);

/// What the plan's flags ask for when it is made: compiles its pipelines, takes those that are compiled, or none.
std::optional<Status> give_pipelines(VkgemmPlan_T&);

/// Compiles what is missing of a plan that is not dry.
std::optional<Status> compile_pipelines(VkgemmPlan_T&);

/// Why the plan cannot be recorded, if it is dry or not compiled.
std::optional<Status> not_compiled(const VkgemmPlan_T&);

/// How many of its different pipelines the context has not compiled.
uint32_t missing_pipelines(const VkgemmPlan_T&);

}  // namespace vkgemm::vk
