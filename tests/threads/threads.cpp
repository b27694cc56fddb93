// SPDX-License-Identifier: MIT
// Eight threads use one context at the same time, on a device that does nothing. `tools/test tsan` runs this with
// ThreadSanitizer, which sees what two threads do to the same memory.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iterator>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "support/null_device.h"
#include "support/owned.h"
#include "support/random.h"
#include "vkgemm/explain.h"
#include "vkgemm/vkgemm.h"

using namespace vkgemm::test;

namespace {

constexpr int thread_count = 8;

/// Problems whose pipelines some of the threads have in common.
constexpr const char* lines[] = {
    "20x30x40",          "64x64x64 c=separate bias=row act=silu",
    "40x50x60 upto=mnk", "20x30x40 batch=4 upto=m groups=table",
    "1x64x512",          "64x48x80 packed_b=any",
    "17x33x9 layout=tn",
};

struct Shared {
    OwnedContext context;
    OwnedPlan kept;  // every thread records and describes it
    std::atomic<int> plans = 0, records = 0, trimmed = 0, failures = 0;

    std::mutex mutex;
    std::string first_failure;

    void expect(VkgemmResult code, const VkgemmError& error = {}) {
        if (code >= 0) return;
        ++failures;
        const std::lock_guard lock(mutex);
        if (first_failure.empty()) first_failure = std::string(vkgemmResultName(code)) + ": " + error.text;
    }
};

VkgemmProblem problem(const char* line) {
    VkgemmProblem p{};
    p.structSize = sizeof p;
    if (vkgemmParseProblem(line, &p, nullptr, nullptr, nullptr) != VKGEMM_SUCCESS) std::abort();
    return p;
}

/// A run with every operand that the plan needs, which nobody reads.
VkgemmRun run_of(VkgemmPlan plan) {
    VkgemmPlanInfo info{};
    info.structSize = sizeof info;
    vkgemmGetPlanInfo(plan, &info);
    VkgemmRun r{};
    r.structSize = sizeof r;
    VkgemmOperand* const slots[] = {&r.a,         &r.b,      &r.c,       &r.d,       &r.bias, &r.scale, &r.residual,
                                    &r.workspace, &r.groups, &r.indices, &r.scalars, &r.b2,   &r.bias2};
    for (uint32_t slot = 0; slot < std::size(slots) && slot < info.slotCount; ++slot)
        if (info.requiredBytes[slot])
            *slots[slot] = {.buffer = NullDevice::buffer(), .offset = slot << 24, .size = 1 << 24, .address = 0};
    return r;
}

void record(Shared& s, VkgemmPlan plan) {
    const VkgemmRun run = run_of(plan);
    VkgemmError error{};
    const VkgemmResult recorded = vkgemmRecord(plan, NullDevice::command_buffer(), &run, &error);
    s.expect(recorded, error);
    ++s.records;
}

/// Plans, compiles, records and destroys; now and then trims, explains or lists what is compiled.
void work(Shared& s, int thread, int rounds) {
    Random random(static_cast<uint64_t>(thread) + 1);
    for (int round = 0; round < rounds; ++round) {
        const VkgemmProblem p = problem(lines[random.below(std::size(lines))]);
        VkgemmPlanOptions o{};
        o.structSize = sizeof o;
        if (round % 3 == 0) o.flags = VKGEMM_PLAN_DEFER_COMPILE;
        OwnedPlan plan, pack;
        VkgemmError error{};
        const VkgemmResult planned = vkgemmCreatePlan(s.context.handle, &p, &o, &plan.handle, &error);
        s.expect(planned, error);
        if (!plan.handle) continue;
        ++s.plans;
        s.expect(vkgemmCompilePlan(plan.handle, nullptr));
        if (p.packedB) s.expect(vkgemmCreatePack(plan.handle, VKGEMM_SLOT_B, &pack.handle, nullptr));
        if (pack.handle) {
            s.expect(vkgemmCompilePlan(pack.handle, nullptr));
            record(s, pack.handle);
        }
        record(s, plan.handle);
        record(s, s.kept.handle);
        uint32_t destroyed = 0;
        char text[65536];
        size_t size = sizeof text;
        switch (round % 5) {
            case 0:
                s.expect(vkgemmTrimPipelines(s.context.handle, &destroyed));
                s.trimmed += static_cast<int>(destroyed);
                break;
            case 1:
                s.expect(vkgemmGetPipelineKeys(s.context.handle, text, &size));
                s.expect(vkgemmCompilePipelines(s.context.handle, text, nullptr));
                break;
            case 2:
                s.expect(vkgemmExplain(s.context.handle, &p, &o, text, &size, nullptr));
                break;
            default:
                break;
        }
    }
}

}  // namespace

TEST_CASE("eight threads plan, compile, record, trim and destroy on one context") {
    const char* const quick = std::getenv("VKGEMM_TESTS_QUICK");
    const int rounds = quick && *quick ? 20 : 100;
    {
        Shared s;
        const VkgemmContextInfo info = NullDevice::context_info();
        VkgemmError error{};
        REQUIRE_MESSAGE(vkgemmCreateContext(&info, &s.context.handle, &error) == VKGEMM_SUCCESS,
                        std::string(error.text));
        const VkgemmProblem p = problem(lines[0]);
        REQUIRE_MESSAGE(vkgemmCreatePlan(s.context.handle, &p, nullptr, &s.kept.handle, &error) == VKGEMM_SUCCESS,
                        std::string(error.text));
        std::vector<std::thread> threads;
        for (int i = 0; i < thread_count; ++i) threads.emplace_back([&s, i, rounds] { work(s, i, rounds); });
        for (std::thread& t : threads) t.join();
        CHECK_MESSAGE(s.failures == 0, s.first_failure);
        CHECK(s.plans.load() == thread_count * rounds);
        CHECK(s.records >= 2 * s.plans);
        CHECK(s.trimmed > 0);
        MESSAGE(s.plans.load(), " plans, ", s.records.load(), " records, ", NullDevice::compiled.load(),
                " pipelines compiled and ", s.trimmed.load(), " trimmed");
        vkgemmDestroyPlan(s.kept.handle);
        s.kept.handle = nullptr;
    }
    CHECK(NullDevice::objects == 0);
    CHECK(NullDevice::commands > 0);
}

TEST_CASE("contexts are made and destroyed on eight threads at the same time") {
    std::atomic<int> made = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < thread_count; ++i)
        threads.emplace_back([&made] {
            for (int round = 0; round < 4; ++round) {
                const VkgemmContextInfo info = NullDevice::context_info();
                OwnedContext c;
                made += vkgemmCreateContext(&info, &c.handle, nullptr) == VKGEMM_SUCCESS;
            }
        });
    for (std::thread& t : threads) t.join();
    CHECK(made == 4 * thread_count);
    CHECK(NullDevice::objects == 0);
}
