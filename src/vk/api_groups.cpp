// SPDX-License-Identifier: MIT
// The public functions that check a table of groups, and lists of indices, which the host has.
#include "plan/base/concat.h"
#include "plan/steps/group_table.h"
#include "plan/steps/steps.h"
#include "vk/api_guard.h"
#include "vk/checked_run.h"

using namespace vkgemm;
using plan::Refusal;

namespace {

constexpr const char* no_table =
    "this plan has no table of groups: its grouping is none of TABLE, INDEXED and ADDRESSES";

std::optional<Status> unfit_table(const vk::CheckedRun& checked, std::span<const VkgemmGroup> groups) {
    if (groups.size() != checked.work.problem->batch)
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                       plan::concat({"groupCount is ", groups.size(), ", and the run has ", checked.work.problem->batch,
                                     " groups"})};
    if (!groups.data() && !groups.empty())
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, "groups is null (with a count above 0)"};
    return std::nullopt;
}

std::optional<Status> unfit_indices(std::span<const uint32_t> indices, uint64_t of_run) {
    if (indices.size() != of_run)
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                       plan::concat({"indexCount is ", indices.size(), ", and the run has ", of_run, " indices"})};
    if (!indices.data() && !indices.empty())
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, "indices is null (with a count above 0)"};
    return std::nullopt;
}

// Of a run that has nothing to do, whatever its memory holds.
VkgemmGroupReport empty_report(size_t count) {
    VkgemmGroupReport out = {};
    out.empty = static_cast<uint32_t>(count);
    out.firstSkipped = UINT32_MAX;
    return out;
}

// Of a table, and of its indices if they are known.
Status check(const VkgemmPlan_T& plan, const vk::CheckedRun& checked, std::span<const VkgemmGroup> groups,
             const std::span<const uint32_t>* indices, VkgemmGroupReport& report) {
    if (auto why = unfit_table(checked, groups)) return *why;
    if (!checked.work.table) {
        report = empty_report(groups.size());
        return {};
    }
    const abi::TableArgs args = vk::table_args(plan, checked.run, checked.work, checked.operands);
    const plan::Step& list = checked.work.steps[0];
    if (indices)
        if (auto why = unfit_indices(*indices, args.index_count)) return *why;
    report = plan::check_table(list, args, groups);
    const std::string skipped = indices ? plan::check_indices(list, args, groups, *indices, report) : "";
    if (report.skipped) return Refusal{VKGEMM_ERROR_OPERAND, plan::why_skipped(list, args, groups, report)};
    if (report.skippedIndices) return Refusal{VKGEMM_ERROR_OPERAND, skipped};
    if (report.clamped) return Refusal{VKGEMM_INCOMPLETE, plan::why_clamped(list, args, groups)};
    return {};
}

Status check_selection(const vk::CheckedRun& checked, std::span<const uint32_t> indices, VkgemmGroupReport& report) {
    const plan::Problem& p = *checked.work.problem;
    if (auto why = unfit_indices(indices, p.batch)) return *why;
    if (plan::is_empty(p)) {
        report = empty_report(indices.size());
        return {};
    }
    const uint32_t matrices = plan::selectable(p, checked.operands[VKGEMM_SLOT_B].bytes).matrices;
    report = plan::check_selection(indices, matrices);
    if (report.skipped == 0) return {};
    return Refusal{VKGEMM_ERROR_OPERAND, plan::why_not_selected(indices, matrices, report)};
}

VkgemmResult answered(VkgemmError* error, const Status& status, const VkgemmGroupReport& counted,
                      VkgemmGroupReport* report) {
    if (report && status.code != VKGEMM_ERROR_INVALID_ARGUMENT) *report = counted;
    return status.code == VKGEMM_SUCCESS ? vk::success(error) : vk::to_result(error, status);
}

}  // namespace

VkgemmResult vkgemmCheckGroups(VkgemmPlan plan, const VkgemmRun* run, const VkgemmGroup* groups, uint32_t groupCount,
                               VkgemmGroupReport* report, VkgemmError* error) {
    return vk::guarded(error, [&]() -> VkgemmResult {
        vk::CheckedRun checked;
        if (auto why = vk::check_run(checked, plan, run)) return vk::to_result(error, *why);
        if (!plan::has_table(plan->plan.problem.completed))
            return vk::to_result(error, Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, no_table});
        VkgemmGroupReport counted = {};
        const Status status = check(*plan, checked, {groups, groupCount}, nullptr, counted);
        return answered(error, status, counted, report);
    });
}

VkgemmResult vkgemmCheckIndices(VkgemmPlan plan, const VkgemmRun* run, const VkgemmGroup* groups, uint32_t groupCount,
                                const uint32_t* indices, uint32_t indexCount, VkgemmGroupReport* report,
                                VkgemmError* error) {
    return vk::guarded(error, [&]() -> VkgemmResult {
        vk::CheckedRun checked;
        if (auto why = vk::check_run(checked, plan, run)) return vk::to_result(error, *why);
        const VkgemmGrouping grouping = plan->plan.problem.completed.grouping;
        const std::span list(indices, indexCount);
        VkgemmGroupReport counted = {};
        if (grouping == VKGEMM_GROUPING_INDEXED)
            return answered(error, check(*plan, checked, {groups, groupCount}, &list, counted), counted, report);
        if (grouping != VKGEMM_GROUPING_SELECTED)
            return vk::to_result(error,
                                 Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                                         "this plan has no indices: its grouping is neither INDEXED nor SELECTED"});
        if (groupCount)
            return vk::to_result(
                error,
                Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                        plan::concat({"groupCount is ", groupCount, ", and SELECTED has no table; it must be 0"})});
        return answered(error, check_selection(checked, list, counted), counted, report);
    });
}
