// SPDX-License-Identifier: MIT
// vkgemm check --native: may native kernels be used on this device and driver, whether they were verified or not?
#pragma once
#include "commands/command.h"

namespace vkgemm::tool {

/// Runs host::testNativeKernels and prints what came of it. Returns the exit code.
int check_native(const Session& session, uint32_t runs, uint64_t seed);

}  // namespace vkgemm::tool
