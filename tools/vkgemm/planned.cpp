// SPDX-License-Identifier: MIT
#include "tools/vkgemm/planned.h"

#include "plan/text.h"

namespace vkgemm::tool {
namespace {

Status status_of(const plan::Refusal& r) { return {static_cast<VkgemmResult>(r.kind), VK_SUCCESS, r.why}; }

}  // namespace

Result<plan::DeviceFacts> facts_of(const host::Device& device) {
    const auto described = device.context().describeDevice();
    if (!described) return described.status();
    auto facts = plan::parse_facts(*described);
    if (!facts) return Status{VKGEMM_ERROR_PARSE, VK_SUCCESS, facts.refusal().why};
    return *std::move(facts);
}

Result<Planned> plan_of(const plan::DeviceFacts& facts, const std::string& problem, const plan::Request& request) {
    const auto read = plan::parse_problem(problem);
    const auto completed = read ? plan::complete(read->problem) : read.refusal();
    if (!completed) return status_of(completed.refusal());
    Planned all{plan::normalise(*completed)};
    if (plan::is_empty(*completed)) return all;
    auto choice = plan::select(facts, all.n.problem, request);
    if (!choice) return status_of(choice.refusal());
    all.choice = *std::move(choice);
    all.steps = plan::lay_out(all.choice, *completed, all.n, facts, request);
    return all;
}

}  // namespace vkgemm::tool
