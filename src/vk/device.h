// SPDX-License-Identifier: MIT
// A physical device becomes plan::DeviceCaps. Nothing else here asks a driver what it can do.
#pragma once
#include "plan/device/device_caps.h"
#include "vk/functions.h"

namespace vkgemm::vk {

/// The version that may be used: the caller's, or the device's where that is lower. Below 1.1 it is refused.
plan::Result<uint32_t> usable_version(const InstanceFunctions&, VkPhysicalDevice, uint32_t asked);

/// `features`: those that choices may rest on (enabled, or merely offered when nothing is made yet).
plan::Result<plan::DeviceCaps> read_device_caps(const InstanceFunctions&, VkPhysicalDevice, uint32_t usable_version,
                                                plan::FeatureSet features);

}  // namespace vkgemm::vk
