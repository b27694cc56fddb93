// SPDX-License-Identifier: MIT
// Submissions of the cases. Device::submit makes a command pool and a fence for each, which costs more than a small
// product; each thread keeps its own here.
#pragma once
#include <chrono>

#include "support/device.h"

namespace vkgemm::test {

/// Records, submits and waits. No two threads may submit at once otherwise, so a program whose threads run cases
/// submits by this function alone.
Status submit_recorded(const host::Record&, std::chrono::nanoseconds timeout);

}  // namespace vkgemm::test
