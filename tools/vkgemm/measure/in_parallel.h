// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

namespace vkgemm::tool {

/// Calls run(first, end) for ranges that together are [0, count), each range in a thread of its own and at least
/// `least` long. `run` must not throw.
template <class Run>
void in_parallel(uint64_t count, uint64_t least, const Run& run) {
    const uint64_t cores = std::max(std::thread::hardware_concurrency(), 1u);
    const uint64_t ranges = std::clamp<uint64_t>(count / std::max<uint64_t>(least, 1), 1, cores);
    std::vector<std::jthread> threads;
    for (uint64_t i = 1; i < ranges; ++i)
        threads.emplace_back([&run, count, ranges, i] { run(count * i / ranges, count * (i + 1) / ranges); });
    run(0, count / ranges);
}

}  // namespace vkgemm::tool
