// SPDX-License-Identifier: MIT
#pragma once
#include "vkgemm/host.hpp"

namespace vkgemm::host::detail {

/// Changes what came back of D before it is compared, or fails: a function with which a test mocks a wrong or lost
/// device.
using Spoil = std::function<Status(const std::string& kernel, std::span<std::byte> d)>;

Result<SelfTest> self_test(const Device& device, const SelfTestOptions& options, const Spoil& spoil);

}  // namespace vkgemm::host::detail
