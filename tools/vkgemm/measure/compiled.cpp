// SPDX-License-Identifier: MIT
#include "tools/vkgemm/measure/compiled.h"

#include <chrono>

#include "tools/vkgemm/report/explanation.h"

namespace vkgemm::tool {
namespace {

/// The plan's own steps, for the names of what it compiles; they follow from the same caps, and what was chosen.
Result<std::vector<plan::Step>> steps_of(const plan::DeviceCaps& caps, const Problem& given, const PlanOptions& o,
                                         const Explanation& chosen) {
    const auto line = formatProblem(given, 1, 0);
    if (!line) return line.status();
    plan::Request request;
    request.kernel = chosen.kernel;
    request.tile = chosen.tile;
    request.workspace_limit = o.workspaceLimit;
    auto planned = plan_of(caps, *line, request);
    if (!planned) return planned.status();
    return std::move(planned->steps.steps);
}

}  // namespace

uint64_t CompiledStep::declared_shared() const {
    return kernel->module.family.shared_bytes(tile, kernel->module.element_bytes());
}

Result<CompiledPlan> compile(const host::Device& device, const plan::DeviceCaps& caps, const Problem& problem,
                             const PlanOptions& options) {
    PlanOptions o = options;
    o.flags = device.inspects() ? uint32_t{VKGEMM_PLAN_CAPTURE_STATISTICS} : 0;
    const auto start = std::chrono::steady_clock::now();
    const auto made = device.context().createPlan(problem, o);  // first: its refusal has the right code
    CompiledPlan out;
    out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (!made) return made.status();
    const auto explained = device.context().explain(problem, options);
    if (!explained) return explained.status();
    const auto steps = steps_of(caps, problem, o, read_explanation(*explained));
    if (!steps) return steps.status();
    const std::vector<VkPipeline> pipelines = made->pipelines();
    if (pipelines.size() != steps->size())
        return Status{VKGEMM_ERROR_UNSUPPORTED, VK_SUCCESS, "the plan has other steps than were laid out"};
    for (size_t i = 0; i < pipelines.size(); ++i) {
        out.steps.push_back({(*steps)[i].kernel, (*steps)[i].tile, {}});
        if (!device.inspects()) continue;
        auto told = device.inspect(pipelines[i]);
        if (!told) return told.status();
        out.steps.back().told = *std::move(told);
    }
    return out;
}

}  // namespace vkgemm::tool
