// SPDX-License-Identifier: MIT
#include "tools/vkgemm/compiled.h"

#include <chrono>

#include "plan/steps.h"
#include "plan/text.h"
#include "tools/vkgemm/explanation.h"

namespace vkgemm::tool {
namespace {

Status unsupported(const std::string& why) { return {VKGEMM_ERROR_UNSUPPORTED, VK_SUCCESS, why}; }

/// The plan's own steps, for the names of what it compiles; they follow from the same facts, and what was chosen.
Result<std::vector<plan::Step>> steps_of(const plan::DeviceFacts& facts, const Problem& given, const PlanOptions& o,
                                         const Explanation& chosen) {
    const auto line = formatProblem(given, 1, 0);
    if (!line) return line.status();
    const auto read = plan::parse_problem(*line);
    const auto completed = read ? plan::complete(read->problem) : read.refusal();
    if (!completed) return unsupported(completed.refusal().why);
    if (plan::is_empty(*completed)) return std::vector<plan::Step>{};
    plan::Request request;
    request.kernel = chosen.kernel;
    request.tile = chosen.tile;
    request.workspace_limit = o.workspaceLimit;
    const plan::Normalised n = plan::normalise(*completed);
    const auto choice = plan::select(facts, n.problem, request);
    if (!choice) return unsupported(choice.refusal().why);
    return plan::lay_out(*choice, *completed, n, facts, request).steps;
}

}  // namespace

uint64_t CompiledStep::declared_shared() const {
    return kernel->module.family.shared_bytes(tile, kernel->module.element_bytes());
}

Result<plan::DeviceFacts> facts_of(const host::Device& device) {
    const auto described = device.context().describeDevice();
    if (!described) return described.status();
    auto facts = plan::parse_facts(*described);
    if (!facts) return Status{VKGEMM_ERROR_PARSE, VK_SUCCESS, facts.refusal().why};
    return *std::move(facts);
}

Result<CompiledPlan> compile(const host::Device& device, const plan::DeviceFacts& facts, const Problem& problem,
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
    const auto steps = steps_of(facts, problem, o, read_explanation(*explained));
    if (!steps) return steps.status();
    const std::vector<VkPipeline> pipelines = made->pipelines();
    if (pipelines.size() != steps->size()) return unsupported("the plan has other steps than were laid out");
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
