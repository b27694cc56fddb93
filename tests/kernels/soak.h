// SPDX-License-Identifier: MIT
// A fixed list of problems again and again: memory must not grow, and no dispatch may take long.
#pragma once
#include <cstdint>

namespace vkgemm::test {

struct SoakOptions {
    uint64_t seconds = 600;
    uint64_t rounds = 0;          // if not 0, so many rounds through the list instead, however long they take
    double longest_dispatch = 2;  // of a plan with dispatchSeconds, in seconds: when a watchdog would end it
};

/// Prints memory, times and what is wrong. Returns the program's exit code. Memory of the last quarter must not exceed
/// that of the quarter before by more than 2 MiB. What came earlier, a minute of ten, filled the driver's caches.
int run_soak(const SoakOptions&);

}  // namespace vkgemm::test
