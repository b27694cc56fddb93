// SPDX-License-Identifier: MIT
// Plans that are made on several threads: their pipelines are compiled at the same time, and none of them twice.
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "api/mock.h"

using namespace vkgemm::test;

namespace {

// A mock of vkCreateComputePipelines that waits until `expected` calls run at once.
struct Compiler {
    std::mutex mutex;
    std::condition_variable changed;
    int expected = 1, calls = 0, inside = 0, most_inside = 0;
    std::chrono::seconds patience{3600};  // it is over sooner unless something is wrong
};
Compiler* compiler = nullptr;

VKAPI_ATTR VkResult VKAPI_CALL compile(VkDevice d, VkPipelineCache cache, uint32_t count,
                                       const VkComputePipelineCreateInfo* infos, const VkAllocationCallbacks* a,
                                       VkPipeline* out) {
    {
        std::unique_lock lock(compiler->mutex);
        ++compiler->calls;
        compiler->most_inside = std::max(compiler->most_inside, ++compiler->inside);
        compiler->changed.notify_all();
        compiler->changed.wait_for(lock, compiler->patience,
                                   [] { return compiler->most_inside >= compiler->expected; });
    }
    const VkResult r =
        device_command<PFN_vkCreateComputePipelines>("vkCreateComputePipelines")(d, cache, count, infos, a, out);
    const std::lock_guard lock(compiler->mutex);
    --compiler->inside;
    return r;
}

const Mocked driver[] = {mocked("vkCreateComputePipelines", compile)};

/// A pipeline cache of the device, which a caller would give.
struct OwnedCache {
    VkPipelineCache handle = VK_NULL_HANDLE;
    OwnedCache() {
        VkPipelineCacheCreateInfo info{};
        info.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO;
        REQUIRE(device_command<PFN_vkCreatePipelineCache>("vkCreatePipelineCache")(device().handle(), &info, nullptr,
                                                                                   &handle) == VK_SUCCESS);
    }
    OwnedCache(const OwnedCache&) = delete;
    OwnedCache& operator=(const OwnedCache&) = delete;
    ~OwnedCache() {
        device_command<PFN_vkDestroyPipelineCache>("vkDestroyPipelineCache")(device().handle(), handle, nullptr);
    }
};

/// Makes a plan with each of these kernels, each on a thread of its own, in a context of their own with a cache.
void plan_on_threads(Compiler& with, const std::vector<const char*>& kernels, uint32_t context_flags = 0) {
    compiler = &with;
    const OwnedCache cache;
    VkgemmContextInfo info = mocked_context_info<driver>();
    info.pipelineCache = cache.handle;
    info.flags = context_flags;
    OwnedContext c;
    REQUIRE(vkgemmCreateContext(&info, &c.handle, nullptr) == VKGEMM_SUCCESS);
    const VkgemmProblem p = problem("20x30x40");
    std::vector<VkgemmResult> results(kernels.size(), VKGEMM_ERROR_VULKAN);
    std::vector<OwnedPlan> plans(kernels.size());
    std::vector<std::thread> threads;
    for (size_t i = 0; i < kernels.size(); ++i)
        threads.emplace_back([&, i] {
            VkgemmPlanOptions o = options();
            o.kernel = kernels[i];
            results[i] = vkgemmCreatePlan(c.handle, &p, &o, &plans[i].handle, nullptr);
        });
    for (std::thread& t : threads) t.join();
    for (const VkgemmResult r : results) CHECK(r == VKGEMM_SUCCESS);
}

}  // namespace

TEST_CASE("different pipelines are compiled at the same time, with a pipeline cache too") {
    Compiler waits_for_both;
    waits_for_both.expected = 2;
    plan_on_threads(waits_for_both, {"naive_f32_8x8", "tiled_f32_8x8"});
    CHECK(waits_for_both.calls == 2);
    CHECK(waits_for_both.most_inside == 2);
}

TEST_CASE("with a cache that is externally synchronised, pipelines are compiled one at a time") {
    Compiler waits_in_vain;
    waits_in_vain.expected = 2;
    waits_in_vain.patience = std::chrono::seconds(1);
    plan_on_threads(waits_in_vain, {"naive_f32_8x8", "tiled_f32_8x8"}, VKGEMM_CONTEXT_CACHE_EXTERNALLY_SYNCHRONIZED);
    CHECK(waits_in_vain.calls == 2);
    CHECK(waits_in_vain.most_inside == 1);
}

TEST_CASE("a pipeline that several threads want is compiled once, and others need not wait for it") {
    Compiler waits;
    waits.expected = 2;
    plan_on_threads(waits, {"naive_f32_8x8", "naive_f32_8x8", "tiled_f32_8x8", "naive_f32_8x8"});
    CHECK(waits.calls == 2);
    CHECK(waits.most_inside == 2);
}
