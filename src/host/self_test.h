// SPDX-License-Identifier: MIT
#pragma once
#include "vkgemm/host.hpp"

namespace vkgemm::host::detail {

/// Changes what came back of D before it is compared, or fails: how a test plays a device that is wrong or lost.
using Spoil = std::function<Status(const std::string& kernel, std::span<std::byte> d)>;

/// A device's name as far as a row of disabled kernels, or a tuned row, can hold it.
std::string row_device(const std::string& name);

Result<SelfTest> self_test(const Device& device, const SelfTestOptions& options, const Spoil& spoil);

}  // namespace vkgemm::host::detail
