// SPDX-License-Identifier: MIT
#include "measure/compiled.h"

#include <chrono>

namespace vkgemm::tool {

Result<CompiledPlan> compile(const host::Device& device, const Problem& problem, const PlanOptions& options) {
    PlanOptions o = options;
    o.flags = device.inspects() ? uint32_t{VKGEMM_PLAN_CAPTURE_STATISTICS} : 0;
    const auto start = std::chrono::steady_clock::now();
    const auto made = device.context().createPlan(problem, o);  // first: its refusal has the right code
    CompiledPlan out;
    out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (!made) return made.status();
    const auto explained = Explanation::create(device.context(), problem, options);
    if (!explained) return explained.status();
    const std::vector<VkgemmDispatch> dispatches = explained->dispatches();
    const std::vector<VkPipeline> pipelines = made->pipelines();
    if (pipelines.size() != dispatches.size())
        return Status{VKGEMM_ERROR_UNSUPPORTED, VK_SUCCESS, "the plan has other dispatches than its explanation"};
    for (size_t i = 0; i < pipelines.size(); ++i) {
        const VkgemmDispatch& d = dispatches[i];
        out.steps.push_back({&all_kernels()[d.kernelIndex], d.tile, d.sharedBytes});
        if (!device.inspects() || !pipelines[i]) continue;  // machine code has no VkPipeline
        auto report = device.inspect(pipelines[i]);
        if (!report) return report.status();
        out.steps.back().report = *std::move(report);
    }
    return out;
}

}  // namespace vkgemm::tool
