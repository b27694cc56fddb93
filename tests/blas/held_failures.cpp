// SPDX-License-Identifier: MIT
// Vulkan calls that fail (failing_vulkan.c, which is preloaded) while results stay on the device. Each case is a
// process of its own.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <functional>

#include "blas/held.h"

using namespace vkgemm::test;

namespace {

struct Case {
    const char* function;
    int result, after;
    bool loses;  // the device is lost
};

/// In a child: two products, of which the second one fails, or the flush after it, or nothing any more.
int run_held(const Case& failure, bool in_flush, float beta) {
    void (*fail)(const char*, int, int) = fail_vulkan();
    if (!fail) {
        std::printf("failing_vulkan is not preloaded\n");
        return 1;
    }
    Sum<float> sum(13, 12, 1), other(7, 6, 2);
    if (hold(sum.c.data(), sum.bytes()) != 0 || hold(other.c.data(), other.bytes()) != 0) return 2;
    sum.add(11, 1, 1, 1);
    other.add(4, 1, 1, 2);
    if (cpu_calls() != 0) return 3;
    if (!in_flush) fail(failure.function, failure.result, failure.after);
    sum.add(14, 1, beta, 3);
    if (in_flush) fail(failure.function, failure.result, failure.after);
    const int lost = flush(sum.c.data());
    const auto differences = sum.differences();
    if (differences.wrong != 0) {
        std::printf("%d elements are wrong\n", differences.wrong);
        return 4;
    }
    if ((lost != 0) != (differences.nan != 0) && !(beta == 0 && lost)) return 5;
    if (!failure.loses && lost) return 6;
    fail("", 0, 0);
    if (flush(sum.c.data()) != 0) return 7;  // said once
    const int others = forget(other.c.data());
    const auto of_other = other.differences();
    if (of_other.wrong != 0 || (others != 0) != (of_other.nan != 0)) return 8;
    if (!failure.loses && others) return 9;
    sum.add(3, 1, 0, 4);
    return forget(sum.c.data()) == 0 && sum.is_right() ? 0 : 10;
}

constexpr int out_of_memory = -1;

/// In a child: C stays in the upper rows; in the lower ones so does another C, unless `fresh`, whose last tile has one
/// column. Its product fails there or before, for lack of memory, and so does what would rescue it, if `times` is more.
int run_beside(int after, int times, bool fresh) {
    void (*fail)(const char*, int, int) = fail_vulkan();
    if (!fail) return 1;
    Sum<float> sum(10, 8, 1);
    if (hold(sum.c.data(), sum.bytes()) != 0) return 2;
    sum.add(0, 3, 5, 5, 4, 1, 1, 1);
    if (!fresh) sum.add(5, 0, 5, 6, 4, 1, 1, 2);
    fail("vkBeginCommandBuffer", out_of_memory, after);
    fail_vulkan_times(times);
    sum.add(5, 0, 5, 6, 4, 1, 1, 3);
    fail("", 0, 0);
    const int lost = forget(sum.c.data());
    const auto found = sum.differences();
    if (found.wrong != 0) return 3;
    if ((lost != 0) != (found.nan != 0) || (found.nan != 0 && (fresh || times < 4))) return 4;
    for (int64_t j = 0; j < sum.n; ++j)
        for (int64_t i = 0; i < 5; ++i)
            if (sum.c[sum.at(i, j)] != sum.wanted[sum.at(i, j)]) return 5;
    return 0;
}

/// In a child: the end of holding six tiles fails so many times, after the first tile. Three times lose nothing.
int run_end(int times) {
    void (*fail)(const char*, int, int) = fail_vulkan();
    if (!fail) return 1;
    Sum<float> sum(10, 15, 1);
    if (hold(sum.c.data(), sum.bytes()) != 0) return 2;
    sum.add(4, 1, 1, 1);
    fail("vkBeginCommandBuffer", out_of_memory, 1);
    fail_vulkan_times(times);
    const int lost = forget(sum.c.data());
    fail("", 0, 0);
    const auto found = sum.differences();
    if (found.wrong != 0 || found.nan != 25 * std::clamp(times - 3, 0, 5)) return 3;
    if ((lost != 0) != (found.nan != 0)) return 4;
    // The device has forgotten what came back.
    for (size_t i = 0; i < sum.c.size(); ++i) sum.c[i] = sum.wanted[i] += 1;
    if (hold(sum.c.data(), sum.bytes()) != 0) return 5;
    sum.add(4, 1, 1, 2);
    return forget(sum.c.data()) == 0 && sum.is_right() ? 0 : 6;
}

/// In a child: a product is added to C on the device, without memory for one allocation of the library: no loss.
int run_without_memory(int allocation) {
    Sum<float> sum(13, 12, 1);
    if (hold(sum.c.data(), sum.bytes()) != 0) return 2;
    sum.add(11, 1, 1, 1);
    sum.next_failure = allocation;
    sum.add(14, 1, 1, 3);
    const int lost = flush(sum.c.data());
    return lost == 0 && sum.is_right() ? 0 : 3;
}

/// In a child: the driver forks in a product, while results are on the device.
int run_fork(int after) {
    void (*fail)(const char*, int, int) = fail_vulkan();
    if (!fail) return 1;
    alarm(20);
    Sum<float> sum(10, 15, 1);
    if (hold(sum.c.data(), sum.bytes()) != 0) return 2;
    sum.add(4, 1, 1, 1);
    fail("fork", 0, after);
    fail_vulkan_times(1);
    sum.add(4, 1, 1, 2);
    return forget(sum.c.data()) == 0 && sum.is_right() ? 0 : 3;
}

}  // namespace

TEST_SUITE("failures") {
    TEST_CASE("what is held is right after a failure, or NaN and reported") {
        constexpr int timeout = 2, out_of_host_memory = -1, out_of_device_memory = -2, device_lost = -4;
        std::vector<Case> cases;
        for (const int after : {0, 1, 2, 3, 5, 8, 13, 21, 34}) {
            cases.push_back({.function = "vkQueueSubmit", .result = device_lost, .after = after, .loses = true});
            const int result = after % 2 ? timeout : device_lost;
            cases.push_back({.function = "vkWaitForFences", .result = result, .after = after, .loses = true});
        }
        for (const int after : {0, 1, 2, 3, 4, 6, 8, 12}) {
            cases.push_back(
                {.function = "vkAllocateMemory", .result = out_of_device_memory, .after = after, .loses = false});
            cases.push_back({.function = "vkMapMemory", .result = out_of_host_memory, .after = after, .loses = false});
            cases.push_back(
                {.function = "vkBeginCommandBuffer", .result = out_of_host_memory, .after = 2 * after, .loses = false});
        }
        size_t number = 0;
        for (const Case& c : cases)
            for (const bool in_flush : {false, true}) {
                const float beta = number++ % 3 == 2 ? 0.f : 1.f;
                const int status = status_of_child([&] { return run_held(c, in_flush, beta); });
                CHECK_MESSAGE(status == 0, c.function, " ", c.result, " after ", c.after, in_flush ? " in flush" : "");
            }
    }

    TEST_CASE("a lack of memory does not concern another C that is held") {
        for (int after = 0; after < 20; ++after)
            for (const int times : {1, 3, 4})
                for (const bool fresh : {false, true}) {
                    const int status = status_of_child([&] { return run_beside(after, times, fresh); });
                    CHECK_MESSAGE(status == 0, "code ", (status / 256), " after ", after, " fails ", times, " fresh ",
                                  fresh);
                }
    }

    TEST_CASE("a driver may fork while results are on the device") {
        for (int after = 0; after < 6; ++after) CHECK(status_of_child([&] { return run_fork(after); }) == 0);
    }

    TEST_CASE("an allocation that fails loses nothing of what is held") {
        for (int allocation = 0; allocation < 160; allocation += 5) {
            const int status = status_of_child([&] { return run_without_memory(allocation); });
            CHECK_MESSAGE(status == 0, "status ", status, ": allocation ", allocation);
        }
    }

    TEST_CASE("of what cannot be fetched only that is lost which fails alone") {
        for (const int times : {1, 2, 3, 4, 5, 100}) {
            const int status = status_of_child([&] { return run_end(times); });
            CHECK_MESSAGE(status == 0, "code ", (status / 256), ": fails ", times);
        }
    }
}
