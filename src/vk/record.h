// SPDX-License-Identifier: MIT
// A plan and a run become Vulkan commands.
#pragma once
#include "plan/problem/overlap.h"
#include "vk/context.h"

namespace vkgemm::vk {

/// A slot's operand with all that recording needs to know of it.
struct Resolved {
    VkBuffer buffer;
    VkDeviceSize offset;      // from the buffer's start
    VkDeviceAddress address;  // of the operand's first byte, where addresses are used; else 0
    VkDeviceSize bytes;       // that the run may use from there on
};
using ResolvedOperands = plan::BySlot<Resolved>;

/// What one run does.
struct Work {
    const plan::Problem* problem;  // completed, with the run's sizes
    const plan::BySlot<plan::Requirement>* slots;
    std::span<const plan::Step> steps;
    std::span<const plan::Repeats> parts;
    std::span<const Program> programs{};    // of the steps; none if the plan is not compiled
    const abi::TableArgs* table = nullptr;  // of groups; null: there are none
    const plan::Choice* choice = nullptr;   // of the range that the sizes are in; null: nothing runs
};

/// Of a plan whose sizes do not vary.
Work work_of(const VkgemmPlan_T&);
/// Of groups of a table with sizes of the run.
Work grouped_work_of(const VkgemmPlan_T&, const plan::RunProblem&, plan::SizedSteps& sized);
/// Of any run that the plan serves, filled into `sized`, which the result refers to. Allocates nothing.
Work work_of(const VkgemmPlan_T&, const plan::RunProblem&, bool wide, plan::SizedSteps& sized);

/// The place of one operand, or what is wrong with it by itself.
plan::Result<Resolved> resolve_one(const VkgemmPlan_T&, const VkgemmOperand&, VkgemmSlot, const plan::Requirement&);

/// The bytes that a slot touches. Bias, scale, workspace and packed operands are single runs.
plan::Footprint footprint(const Work&, VkgemmSlot, const Resolved&);
/// "its bytes 0 to 16 are bytes 48 to 64 of OTHER": the bytes that both span, from the beginning of each, because
/// callers know offsets, not addresses.
std::string common_bytes(const plan::Footprint&, const plan::Footprint& other, std::string_view name_of_other);

/// Refuses an operand of the run that no run of a plan with this problem and these slots uses. A workspace may be given
/// in any case.
std::optional<Status> unused_operand(const plan::Problem& completed, const plan::BySlot<plan::Requirement>& slots,
                                     const VkgemmRun&);

/// Finds the run's operands. Returns the first thing that is wrong with the run.
std::optional<Status> resolve(const VkgemmPlan_T&, const VkgemmRun&, const Work&, ResolvedOperands&);

/// Some of a run's dispatches, in their order: `count` from number `first` on.
struct DispatchRange {
    uint32_t first = 0, count = UINT32_MAX;
};

/// The arguments of the pass that lists the tiles of a table of groups, whose operands resolve() found.
abi::TableArgs table_args(const VkgemmPlan_T&, const VkgemmRun&, const Work&, const ResolvedOperands&);

/// Between the dispatches of one recording: what follows sees what those before wrote.
void record_barrier(const DeviceFunctions&, VkCommandBuffer);
/// Before and after a recording, if `flags` (VkgemmRecordFlagBits) ask for them.
void record_barrier_before(const DeviceFunctions&, VkCommandBuffer, uint32_t flags);
void record_barrier_after(const DeviceFunctions&, VkCommandBuffer, uint32_t flags);

/// Cannot fail: everything that could be wrong was found by resolve(). The barrier before comes with the first
/// dispatch, the one after with the last.
void record(const VkgemmPlan_T&, VkCommandBuffer, const VkgemmRun&, const Work&, const ResolvedOperands&,
            const DispatchRange& = {});

}  // namespace vkgemm::vk
