// SPDX-License-Identifier: MIT
// A caller's run, with everything that could be wrong with it found.
#pragma once
#include "vk/record.h"

namespace vkgemm::vk {

struct CheckedRun {
    VkgemmRun run;                          // alpha is the factor that is meant
    std::optional<plan::SizedSteps> sized;  // what `work` refers to, if sizes vary
    Work work;
    ResolvedOperands operands;
};

/// Replaces VKGEMM_SIZE_OF_PROBLEM.
void complete_sizes(VkgemmRun&, const VkgemmPlan_T&);

/// The run of a plan, as it is meant, and its sizes; or what is wrong with it, but for its operands.
std::optional<Status> read_run(VkgemmRun& out, plan::Sizes& sizes, const VkgemmPlan_T&, const VkgemmRun*);

/// Fills `out`, or says what is wrong with the run. Allocates nothing unless it is refused.
std::optional<Status> check_run(CheckedRun& out, VkgemmPlan, const VkgemmRun*);

/// What the run touches, by slot, as far as it fits `capacity` elements of `out`, which may be null. Returns how many
/// there are.
uint32_t accesses_of(const VkgemmPlan_T&, const CheckedRun&, VkgemmRunAccess* out, uint32_t capacity);

}  // namespace vkgemm::vk
