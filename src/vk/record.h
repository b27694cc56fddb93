// SPDX-License-Identifier: MIT
// A plan and a run become Vulkan commands.
#pragma once
#include "vk/context.h"

namespace vkgemm::vk {

/// A slot's operand with all that recording needs to know of it.
struct Resolved {
    VkBuffer buffer;
    VkDeviceSize offset;      // from the buffer's start
    VkDeviceAddress address;  // of the operand's first byte, where addresses are used; else 0
};
using ResolvedOperands = std::array<Resolved, size_t{VKGEMM_SLOT_COUNT}>;

/// The run's operands, or the first thing wrong with the run.
plan::Result<ResolvedOperands> resolve(const VkgemmPlan_T&, const VkgemmRun&);

/// Cannot fail: everything that could be wrong was found by resolve().
void record(const VkgemmPlan_T&, VkCommandBuffer, const VkgemmRun&, const ResolvedOperands&);

}  // namespace vkgemm::vk
