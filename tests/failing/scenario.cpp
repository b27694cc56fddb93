// SPDX-License-Identifier: MIT
#include "failing/scenario.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <new>
#include <optional>

#include "failing/counted.h"

namespace vkgemm::test::failing {
namespace {

uint64_t failed_calls = 0, failed_allocations = 0, unseen = 0;

constexpr VkResult results[] = {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY, VK_ERROR_DEVICE_LOST};

constexpr uint64_t sample = 20;  // of each kind in each scenario, without --all

struct Outcome {
    std::optional<Got> status;  // nothing: std::bad_alloc was thrown
    Count count;
};

Outcome run(const Scenario& s, Kind kind, uint64_t works, VkResult result) {
    if (s.prepare) s.prepare();
    Outcome out;
    arm(kind, works, result);
    try {
        out.status = s.run();
    } catch (const std::bad_alloc&) {
    }
    out.count = disarm();
    return out;
}

void check_one(const Scenario& s, Kind kind, uint64_t works, VkResult result) {
    if (s.prepare) s.prepare();
    const std::string before = alive();
    const Outcome got = run(s, kind, works, result);
    if (got.count.failed.empty()) {
        ++unseen;
        return;
    }
    ++(kind == Kind::call ? failed_calls : failed_allocations);
    INFO(std::string(s.name), ": ", std::string(got.count.failed), ", number ", works, ", result ", int(result), ": ",
         got.status ? std::string(got.status->error.text) : "std::bad_alloc");
    if (!got.status) {
        CHECK_MESSAGE(s.throws, "an exception left the C API");
        CHECK(kind == Kind::allocation);
    } else if (got.count.matters && !s.may_succeed) {
        CHECK_MESSAGE(got.status->code < 0, "the failure was ignored");
        CHECK(got.status->error.text[0] != '\0');
    }
    if (!got.count.matters && got.status) CHECK(got.status->code >= 0);
    CHECK(product_is_right());  // which waits for what is still running
    if (s.prepare) s.prepare();
    CHECK_MESSAGE(alive() == before, "leaked, or destroyed twice; there were ", before, " and are ", alive());
}

}  // namespace

Got got(const Status& status) {
    Got out{.code = status.code, .error = {}};
    out.error.vkResult = static_cast<VkResult>(status.vkResult);
    std::snprintf(out.error.text, sizeof out.error.text, "%s", status.text.c_str());
    return out;
}

bool product_is_right() {
    constexpr uint32_t m = 5, n = 6, k = 7;
    static host::Buffer a, b, d;  // until the device is closed
    if (!a.handle()) {
        for (host::Buffer* x : {&a, &b, &d}) *x = *device().createBuffer(4096, host::Memory::host);
        before_closing([] { a = b = d = {}; });
    }
    const auto floats = [](const host::Buffer& x) { return reinterpret_cast<float*>(x.mapped().data()); };
    for (uint32_t i = 0; i < m * k; ++i) floats(a)[i] = float(i % 5) - 2;
    for (uint32_t i = 0; i < k * n; ++i) floats(b)[i] = float(i % 7) - 3;
    std::fill_n(floats(d), m * n, -99.f);
    const auto problem = parseProblem("5x6x7");
    const auto plan = device().context().createPlan(problem->problem, {.kernel = "naive_f32_8x8"});
    if (!plan) return false;
    const Run run{.a = a.operand(), .b = b.operand(), .d = d.operand()};
    if (!device().submit([&](VkCommandBuffer commands) { return plan->record(commands, run); })) return false;
    for (uint32_t i = 0; i < m; ++i)
        for (uint32_t j = 0; j < n; ++j) {
            float wanted = 0;
            for (uint32_t l = 0; l < k; ++l) wanted += floats(a)[i * k + l] * floats(b)[l * n + j];
            if (floats(d)[i * n + j] != wanted) return false;
        }
    return true;
}

void each_fails(const Scenario& s) {
    REQUIRE(product_is_right());
    for (const Kind kind : {Kind::call, Kind::allocation}) {
        run(s, kind, UINT64_MAX, VK_SUCCESS);  // what is made once in a process
        const Outcome whole = run(s, kind, UINT64_MAX, VK_SUCCESS);
        REQUIRE(whole.status);
        REQUIRE_MESSAGE(whole.status->code >= 0, std::string(s.name), ": ", std::string(whole.status->error.text));
        const uint64_t count = whole.count.all;
        if (kind == Kind::call) CHECK((count > 0) == s.calls_vulkan);
        const uint64_t step = everything() ? 1 : std::max<uint64_t>(1, count / sample);
        for (uint64_t i = 0, next = 0; next < count; ++i, next += step)
            for (size_t r = 0; r < (kind == Kind::call && everything() ? std::size(results) : 1); ++r)
                check_one(s, kind, next, results[(i + r) % std::size(results)]);
        std::printf("%s: %llu %s, one in %llu fails\n", s.name, static_cast<unsigned long long>(count),
                    kind == Kind::call ? "calls" : "allocations", static_cast<unsigned long long>(step));
    }
    if (s.prepare) s.prepare();
}

void print_counts() {
    std::printf("%llu calls and %llu allocations failed once each; %llu turns did not come\n",
                static_cast<unsigned long long>(failed_calls), static_cast<unsigned long long>(failed_allocations),
                static_cast<unsigned long long>(unseen));
}

}  // namespace vkgemm::test::failing
