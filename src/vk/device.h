// SPDX-License-Identifier: MIT
// A physical device becomes plan::DeviceFacts. Nothing else here asks a driver what it can do.
#pragma once
#include "plan/facts.h"
#include "vk/functions.h"

namespace vkgemm::vk {

/// `features`: those that choices may rest on (enabled, or merely offered when nothing is made yet).
plan::DeviceFacts read_facts(const InstanceFunctions&, VkPhysicalDevice, uint32_t api_version,
                             plan::FeatureSet features);

}  // namespace vkgemm::vk
