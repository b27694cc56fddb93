// SPDX-License-Identifier: MIT
//
// What a device has that decides how products are recorded.
#ifndef VKGEMM_GGML_DEVICE_H
#define VKGEMM_GGML_DEVICE_H

#include <vkgemm/vkgemm.h>

#include <string>

namespace vkgemm::ggml {

enum class Rounds : uint32_t;

/// Whether the device loads a native kernel for rows of `type` and weights of `type`, of a size that was measured.
bool has_native(VkgemmContext context, VkgemmType type, uint64_t workspace_limit);
/// Whether bufferDeviceAddress was enabled.
bool has_addresses(const VkPhysicalDeviceFeatures2* enabled);
/// What times are of: they hold for one device with one driver, and for one version and one rounding of ours.
std::string device_of(const VkgemmContextInfo& info, Rounds rounds);

}  // namespace vkgemm::ggml
#endif
