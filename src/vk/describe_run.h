// SPDX-License-Identifier: MIT
// A run as text: the problem that it computes, and the header of a file that repeats it (docs/files.md).
#pragma once
#include <string>

#include "vk/checked_run.h"

namespace vkgemm::vk {

/// The problem of one run with its own sizes and strides. Of a plan for varying sizes, it varies only if `varies`: the
/// sizes are then the largest, so that a plan has the same kinds of ranges.
plan::Problem problem_of_run(const VkgemmPlan_T&, const CheckedRun&, bool varies);

/// `data` may be null.
plan::Result<std::string> describe_run(const VkgemmPlan_T&, const CheckedRun&, const VkgemmRunData* data);

}  // namespace vkgemm::vk
