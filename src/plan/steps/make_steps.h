// SPDX-License-Identifier: MIT
// What steps of one product and steps of groups are made of.
#pragma once
#include "plan/steps/steps.h"

namespace vkgemm::plan {

ProblemConstants constants_of(const Schedule&, const Kernel&, const Tile&, const Request&);
void clear_epilogue(ProblemConstants&);  // for a pass that finishes nothing
abi::GemmArgs args_of(const Problem& normalised);
/// The operand of each binding. A and B are swapped if the problem was transposed.
std::array<VkgemmSlot, BIND_COUNT> slots_of(const Problem& normalised, bool swapped);
double error_bound_of(const Problem& completed, const Kernel*);

/// Of a workspace of so many bytes.
Requirement workspace_requirement(uint64_t bytes, const DeviceCaps&);

/// Sets the work groups of a step, and how they are dispatched.
void set_grid(Step&, uint64_t groups, const DeviceCaps&);

}  // namespace vkgemm::plan
