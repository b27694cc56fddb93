// SPDX-License-Identifier: MIT
// Disabled kernels: those that a self-test found wrong on a device. One a line, '#' begins a comment:
//
//     DEVICE | KERNEL | REASON
//     llvmpipe | block_f32_64x64 | 64x64x64: D[0][4] is 3 and should be 5
//
// A row is for the devices whose name DEVICE is a part of.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "plan/base/result.h"
#include "plan/device/device_caps.h"

namespace vkgemm::plan {

struct DisabledKernelRow {
    std::string device, kernel, why;
};

/// Refusals (VKGEMM_ERROR_PARSE) give the number of the line. With `skipped`, a line that cannot be read is skipped
/// instead, and a sentence about it is added there. A row may name a kernel that this version does not have.
Result<std::vector<DisabledKernelRow>> parse_disabled_kernels(std::string_view text,
                                                              std::vector<std::string>* skipped = nullptr);

/// Adds the rows that are for this device to its capabilities.
void mark_disabled(std::span<const DisabledKernelRow> rows, DeviceCaps& caps);

}  // namespace vkgemm::plan
