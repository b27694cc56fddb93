// SPDX-License-Identifier: MIT
// The public functions that check a run and record it.
#include "plan/base/concat.h"
#include "plan/problem/problem_text.h"
#include "vk/api_guard.h"
#include "vk/describe_run.h"
#include "vk/plan_pipelines.h"

using namespace vkgemm;
using plan::Refusal;

namespace {

// What VkgemmContextInfo::recorded is told of a run.
std::string recorded_text(const VkgemmPlan_T& plan, const vk::CheckedRun& checked) {
    if (plan.plan.is_pack) return "";
    const bool has_table = checked.work.table != nullptr;  // whose groups have sizes of their own
    return plan::to_text(vk::problem_of_run(plan, checked, has_table), checked.run.alpha, checked.run.beta);
}

}  // namespace

VkgemmResult vkgemmCheckRun(VkgemmPlan plan, const VkgemmRun* run, VkgemmError* error) {
    return vk::guarded(error, [&]() -> VkgemmResult {
        vk::CheckedRun checked;
        const auto why = vk::check_run(checked, plan, run);
        return why ? vk::to_result(error, *why) : vk::success(error);
    });
}

VkgemmResult vkgemmRecord(VkgemmPlan plan, VkCommandBuffer commandBuffer, const VkgemmRun* run, VkgemmError* error) {
    return vkgemmRecordDispatches(plan, commandBuffer, run, 0, UINT32_MAX, error);
}

VkgemmResult vkgemmRecordDispatches(VkgemmPlan plan, VkCommandBuffer commandBuffer, const VkgemmRun* run,
                                    uint32_t first, uint32_t count, VkgemmError* error) {
    return vk::guarded(error, [&]() -> VkgemmResult {
        if (!commandBuffer)
            return vk::to_result(error, Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, "commandBuffer is null"});
        vk::CheckedRun checked;
        if (auto why = vk::check_run(checked, plan, run)) return vk::to_result(error, *why);
        if (auto why = vk::not_compiled(*plan)) return vk::to_result(error, *why);
        const uint32_t all = plan::dispatch_count(checked.work.steps, checked.work.parts);
        if (first && first >= all)
            return vk::to_result(
                error, Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, plan::concat({"first is ", first, ", but the run has ",
                                                                            all, " dispatches, numbered from 0"})});
        const VkgemmRun& r = checked.run;
        vk::record(*plan, commandBuffer, r, checked.work, checked.operands, {first, count});
        // No text states a batch of 0, of which nothing is recorded.
        const bool is_whole = first == 0 && count >= all && checked.work.problem->batch != 0;
        if (auto* const c = plan->context; is_whole && c->recorded)
            c->recorded(c->recorded_user, recorded_text(*plan, checked).c_str(), plan, &r);
        return vk::success(error);
    });
}
