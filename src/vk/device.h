// SPDX-License-Identifier: MIT
// A physical device becomes plan::DeviceFacts. Nothing else here asks a driver what it can do.
#pragma once
#include "plan/facts.h"
#include "vk/functions.h"

namespace vkgemm::vk {

/// The version that may be used: the caller's, or the device's where that is lower. Below 1.1 it is refused.
plan::Result<uint32_t> usable_version(const InstanceFunctions&, VkPhysicalDevice, uint32_t asked);

/// `features`: those that choices may rest on (enabled, or merely offered when nothing is made yet).
plan::DeviceFacts read_facts(const InstanceFunctions&, VkPhysicalDevice, uint32_t usable_version,
                             plan::FeatureSet features);

}  // namespace vkgemm::vk
