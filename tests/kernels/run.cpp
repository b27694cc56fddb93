// SPDX-License-Identifier: MIT
#include "kernels/run.h"

#include "kernels/compare.h"
#include "kernels/emulated.h"
#include "kernels/group_case.h"
#include "kernels/launch.h"
#include "kernels/phases.h"

namespace vkgemm::test {
namespace {

std::string command = "test_kernels";

std::string why_wrong(const Case& x) {
    if (x.problem.grouping != VKGEMM_GROUPING_NONE) return run_grouped(x);
    Ran ran;
    std::string why = execute(x, ran);
    if (why.empty()) why = compare(x, ran.problem, *ran.data, ran.error_bound);
    return why.empty() && x.ways ? run_other_ways(x, ran) : why;
}

}  // namespace

void set_command(std::string name) { command = std::move(name); }

bool can_be_exact(const Case& x) {
    const auto completed = plan::complete(x.problem);
    return is_inexact(x.fill, x.problem.accuracy) || !completed || exact_fill_of(*completed, x).ab != 0;
}

bool is_planned(const Case& x) {
    const Timed timed(Phase::plan);
    const auto completed = plan::complete(x.problem);
    if (!completed) return false;
    const VkgemmProblem problem = for_api(x.problem);
    VkgemmPlanOptions options = options_of(x, *completed);
    options.flags |= VKGEMM_PLAN_DRY;
    OwnedPlan plan;
    return vkgemmCreatePlan(context_of(x), &problem, &options, &plan.handle, nullptr) == VKGEMM_SUCCESS;
}

bool fits(const plan::Kernel& kernel) {
    if (!emulated_device().empty() && !is_emulated(kernel)) return false;
    VkgemmPlanOptions options{};
    options.structSize = sizeof options;
    options.kernel = kernel.name.data();
    return vkgemmCheckKernel(context_of({}), nullptr, &options, nullptr) == VKGEMM_SUCCESS;
}

std::string repeat_with(const Case& x) {
    const std::string emulate = emulated_device().empty() ? "" : " --emulate=" + emulated_device();
    return command + (validating() ? "" : " --no-validation") + emulate + " --one=\"" + to_text(x) + "\"";
}

std::string run(const Case& x) {
    const size_t messages = device().messageCount();
    std::string why = why_wrong(x);
    if (device().messageCount() > messages)
        why += (why.empty() ? "" : "; ") + std::string("validation: ") + device().messages()[messages].text;
    return why.empty() ? "" : why + "\n  repeat it with: " + repeat_with(x);
}

plan::Result<std::vector<double>> result_of(const Case& x) {
    Ran ran;
    if (std::string why = execute(x, ran); !why.empty()) return plan::Refusal{VKGEMM_ERROR_VULKAN, why};
    return ran.data->d.numbers_of(pool().read(VKGEMM_SLOT_D, ran.data->d.bytes().size()));
}

}  // namespace vkgemm::test
