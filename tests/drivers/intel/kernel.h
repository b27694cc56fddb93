// SPDX-License-Identifier: MIT
// An imitation of the Linux driver xe, as far as Mesa's ANV asks it while it opens a device, compiles, allocates and
// submits. Submissions do nothing and are done at once.
#pragma once
#include <cstdint>

namespace vkgemm::test::intel {

struct Gpu {
    const char* name;
    uint16_t pci_device, revision, ip_major, ip_minor;
    uint32_t cores, cores_of_slice, engines;
    bool wide;
    uint64_t memory_gib;
};

/// The row of devices.def that $VKGEMM_INTEL_GPU names; ends the process if there is none.
const Gpu& chosen_gpu();

/// Answers an ioctl of a DRM file. Returns 0, or an error number of errno.h.
int answer(unsigned long request, void* data);

}  // namespace vkgemm::test::intel
