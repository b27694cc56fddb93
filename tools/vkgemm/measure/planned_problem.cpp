// SPDX-License-Identifier: MIT
#include "tools/vkgemm/measure/planned_problem.h"

#include "plan/problem/problem_text.h"

namespace vkgemm::tool {
namespace {

Status status_of(const plan::Refusal& r) { return {static_cast<VkgemmResult>(r.kind), VK_SUCCESS, r.why}; }

}  // namespace

Result<plan::DeviceCaps> caps_of(const host::Device& device) {
    const auto described = device.context().describeDevice();
    if (!described) return described.status();
    auto caps = plan::parse_device_caps(*described);
    if (!caps) return Status{VKGEMM_ERROR_PARSE, VK_SUCCESS, caps.refusal().why};
    return *std::move(caps);
}

Result<PlannedProblem> plan_of(const plan::DeviceCaps& caps, const std::string& problem, const plan::Request& request) {
    const auto read = plan::parse_problem(problem);
    const auto completed = read ? plan::complete(read->problem) : read.refusal();
    if (!completed) return status_of(completed.refusal());
    PlannedProblem all{plan::normalise(*completed)};
    if (plan::is_empty(*completed)) return all;
    auto choice = plan::select(caps, all.n.problem, request);
    if (!choice) return status_of(choice.refusal());
    all.choice = *std::move(choice);
    all.steps = plan::make_steps(all.choice, *completed, all.n, caps, request);
    return all;
}

}  // namespace vkgemm::tool
