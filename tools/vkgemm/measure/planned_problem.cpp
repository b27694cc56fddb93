// SPDX-License-Identifier: MIT
#include "tools/vkgemm/measure/planned_problem.h"

#include "plan/problem/problem_text.h"

namespace vkgemm::tool {
Result<plan::DeviceCaps> caps_of(const host::Device& device) {
    const auto described = device.context().describeDevice();
    if (!described) return described.status();
    auto caps = plan::parse_device_caps(*described);
    if (!caps) return Status{VKGEMM_ERROR_PARSE, VK_SUCCESS, caps.status().text};
    return *std::move(caps);
}

Result<PlannedProblem> plan_of(const plan::DeviceCaps& caps, const std::string& problem, const plan::Request& request) {
    const auto read = plan::parse_problem(problem);
    const Result<Problem> completed = read ? plan::complete(read->problem) : read.status();
    if (!completed) return completed.status();
    PlannedProblem all{plan::normalise(*completed)};
    if (plan::is_empty(*completed)) return all;
    auto choice = plan::select(caps, all.n.problem, request);
    if (!choice) return choice.status();
    all.choice = *std::move(choice);
    all.steps = plan::make_steps(all.choice, *completed, all.n, caps, request);
    return all;
}

}  // namespace vkgemm::tool
