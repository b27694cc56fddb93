// SPDX-License-Identifier: MIT
// Where each plan::Feature lives in Vulkan: reading feature chains, asking a physical device, merging into a caller's
// chain.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "plan/device/device_caps.h"
#include "vk/functions.h"

namespace vkgemm::vk {

/// What is enabled on a device that was made with this chain (may be null) and these extensions.
plan::FeatureSet enabled_features(const VkPhysicalDeviceFeatures2* chain, std::span<const char* const> extensions,
                                  uint32_t api_version);

/// What the chain sets and enabled_features() leaves out, because the version is too low and the extension not there.
plan::FeatureSet uncounted_features(const VkPhysicalDeviceFeatures2* chain, std::span<const char* const> extensions,
                                    uint32_t api_version);

/// What each needs to count: "bufferDeviceAddress (Vulkan 1.2 or VK_KHR_buffer_device_address), ...".
std::string needs_text(plan::FeatureSet);

/// What a physical device offers to an application that uses `api_version`, which is at most the device's.
plan::Result<plan::FeatureSet> offered_features(const InstanceFunctions&, VkPhysicalDevice, uint32_t api_version);

/// The device extensions that `features` ask for at this version; static strings, each once.
std::vector<const char*> extensions_for(plan::FeatureSet features, uint32_t api_version);

/// Bytes of the structs that merging would append to `chain`.
size_t missing_struct_bytes(plan::FeatureSet, const VkPhysicalDeviceFeatures2* chain);

/// Sets `features` in `chain`, appending structs it lacks from `memory` (of missing_struct_bytes).
void merge_features(plan::FeatureSet, VkPhysicalDeviceFeatures2* chain, void* memory);

/// Names of the extensions that a physical device has.
plan::Result<std::vector<std::string>> device_extensions(const InstanceFunctions&, VkPhysicalDevice);

/// The Vulkan spelling, "bufferDeviceAddress"; null past the last.
const char* vulkan_feature_name(uint32_t bit);

}  // namespace vkgemm::vk
