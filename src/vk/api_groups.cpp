// SPDX-License-Identifier: MIT
// The public function that checks a table of groups which the host has.
#include "plan/base/concat.h"
#include "plan/steps/group_table.h"
#include "vk/api_guard.h"
#include "vk/checked_run.h"

using namespace vkgemm;
using plan::Refusal;

namespace {

std::optional<Status> unfit_table(const VkgemmPlan_T& plan, const vk::CheckedRun& checked, const VkgemmGroup* groups,
                                  uint32_t count) {
    if (!plan::has_table(plan.plan.problem.completed))
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                       "this plan has no table of groups: its grouping is none of TABLE, INDEXED and ADDRESSES"};
    if (count != checked.work.problem->batch)
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, plan::concat({"groupCount is ", count, ", and the run has ",
                                                                    checked.work.problem->batch, " groups"})};
    if (!groups && count) return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, "groups is null (with a count above 0)"};
    return std::nullopt;
}

}  // namespace

VkgemmResult vkgemmCheckGroups(VkgemmPlan plan, const VkgemmRun* run, const VkgemmGroup* groups, uint32_t groupCount,
                               VkgemmGroupReport* report, VkgemmError* error) {
    return vk::guarded(error, [&]() -> VkgemmResult {
        vk::CheckedRun checked;
        if (auto why = vk::check_run(checked, plan, run)) return vk::to_result(error, *why);
        if (auto why = unfit_table(*plan, checked, groups, groupCount)) return vk::to_result(error, *why);
        VkgemmGroupReport counted = {};
        if (!checked.work.table) {  // nothing to do, whatever the table holds
            counted.empty = groupCount;
            counted.firstSkipped = UINT32_MAX;
            if (report) *report = counted;
            return vk::success(error);
        }
        const abi::TableArgs args = vk::table_args(*plan, checked.run, checked.work, checked.operands);
        const plan::Step& list = checked.work.steps[0];
        const std::span table(groups, groupCount);
        counted = plan::check_table(list, args, table);
        if (report) *report = counted;
        if (counted.skipped == 0) return vk::success(error);
        return vk::to_result(error, Refusal{VKGEMM_ERROR_OPERAND, plan::why_skipped(list, args, table, counted)});
    });
}
