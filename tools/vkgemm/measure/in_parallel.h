// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
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

/// What find(i) gives for the least i of [0, count) for which it gives anything. Ranges of them, each at least `least`
/// long, have threads of their own. What `find` throws is thrown again.
template <class Find>
std::optional<std::string> first_found(uint64_t count, uint64_t least, const Find& find) {
    std::mutex mutex;
    std::optional<std::string> first;
    std::exception_ptr thrown;
    std::atomic<uint64_t> end = count;  // of those that can still be the first
    in_parallel(count, least, [&](uint64_t i, uint64_t last) {
        try {
            for (; i < std::min(last, end.load()); ++i) {
                auto found = find(i);
                if (!found) continue;
                const std::lock_guard lock(mutex);
                if (i >= end) return;
                end = i;
                first = std::move(found);
            }
        } catch (...) {
            const std::lock_guard lock(mutex);
            thrown = std::current_exception();
        }
    });
    if (thrown) std::rethrow_exception(thrown);
    return first;
}

}  // namespace vkgemm::tool
