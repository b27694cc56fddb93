// SPDX-License-Identifier: MIT
// The devices and drivers on which the native kernels were checked: every row, layout and step of the epilogue exact,
// and 40 products in turn with SPIR-V ones (docs/native.md). The extension that launches them is undocumented, so a
// driver that is not here may do anything.
#pragma once
#include "plan/device/device_caps.h"

namespace vkgemm::plan {

struct VerifiedDriver {
    std::string_view device;  // a part of its name
    uint32_t driver_version;  // as VkPhysicalDeviceProperties has it
    std::string_view text;    // the same for people
};
/// NVIDIA's packing of driver versions.
constexpr uint32_t nvidia_version(uint32_t major, uint32_t minor, uint32_t patch) {
    return major << 22 | minor << 14 | patch << 6;
}
inline constexpr uint32_t nvidia_vendor = 0x10de;
inline constexpr VerifiedDriver verified_drivers[] = {
    {"H200", nvidia_version(580, 159, 4), "580.159.04"},
    {"H100", nvidia_version(580, 159, 4), "580.159.04"},
};

inline bool is_verified(const DeviceCaps& dev) {
    for (const VerifiedDriver& v : verified_drivers)
        if (dev.vendor == nvidia_vendor && dev.driver_version == v.driver_version &&
            dev.name.find(v.device) != std::string::npos)
            return true;
    return false;
}

}  // namespace vkgemm::plan
