// SPDX-License-Identifier: MIT
// The devices and drivers on which native kernels ran and no result was wrong. notes/native.md states what was
// compared on which of them, and which tests a time limit cut short. The extension that launches these kernels is
// undocumented, so another device or driver may do anything: others of the same family (GH200, H100 PCIe, H100 NVL, MIG
// slices) were not tried.
#pragma once
#include "plan/device/device_caps.h"

namespace vkgemm::plan {

struct VerifiedDriver {
    std::string_view device;  // its whole name
    uint32_t driver_version;  // as VkPhysicalDeviceProperties has it
    std::string_view text;    // the same for people
};
/// NVIDIA's packing of driver versions.
constexpr uint32_t nvidia_version(uint32_t major, uint32_t minor, uint32_t patch) {
    return major << 22 | minor << 14 | patch << 6;
}
inline constexpr uint32_t nvidia_vendor = 0x10de;
inline constexpr VerifiedDriver verified_drivers[] = {
    {"NVIDIA H200", nvidia_version(580, 159, 4), "580.159.04"},
    {"NVIDIA H100 80GB HBM3", nvidia_version(580, 159, 4), "580.159.04"},
};

inline bool is_verified(const DeviceCaps& dev) {
    for (const VerifiedDriver& v : verified_drivers)
        if (dev.vendor == nvidia_vendor && dev.driver_version == v.driver_version && dev.name == v.device) return true;
    return false;
}

}  // namespace vkgemm::plan
