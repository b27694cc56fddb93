// SPDX-License-Identifier: MIT
// The device as it would be with smaller limits, to reach what only lesser devices choose.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "vkgemm/vkgemm.h"

namespace vkgemm::test {

/// A context of device() that takes it for a GPU whose work groups hold at most `invocations`, and whose descriptors
/// begin at multiples of 256 bytes. Kept until the device is closed.
VkgemmContext limited_context(uint32_t invocations);

/// Has any of these contexts made a pipeline for this row? Nothing where the names of objects are not told.
std::optional<bool> limited_plan_made(std::string_view kernel);

}  // namespace vkgemm::test
