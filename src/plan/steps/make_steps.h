// SPDX-License-Identifier: MIT
// What steps of one product and steps of groups are made of.
#pragma once
#include "plan/steps/steps.h"

namespace vkgemm::plan {

ProblemConstants constants_of(const Schedule&, const Kernel&, const Tile&, const Request&);
/// The epilogue's steps, and the types of what they read.
void set_epilogue(ProblemConstants&, const Module&, const Problem&);
void clear_epilogue(ProblemConstants&);  // for a pass that finishes nothing
/// Of mixed types: may its elements be read 16 bytes at a time?
bool in_chunks(const Operand&, const Request&);
abi::GemmArgs args_of(const Problem& normalised);
/// The operand of each binding. A and B are swapped if the problem was transposed.
std::array<VkgemmSlot, BIND_COUNT> slots_of(const Problem& normalised, bool swapped);
double error_bound_of(const Problem& completed, const Kernel*);

/// Of an operand that the product reads as it was packed ahead.
Requirement packed_requirement(const Packing&);
/// Of a workspace of so many bytes.
Requirement workspace_requirement(uint64_t bytes, const DeviceCaps&);

/// The steps of a problem that is computed from int8. Allocates nothing.
struct StepsFromInt8 {
    std::array<Step, most_steps> step;
    size_t count = 0;

    void add(const Step& s) { step[count++] = s; }
};
StepsFromInt8 steps_from_int8(const Choice&, const Normalised&, const DeviceCaps&, const Request&);
/// set_sizes() of these. `choice` has the schedule of these sizes.
void set_sizes_from_int8(std::span<Step>, const Choice&, const Normalised&, const DeviceCaps&);
/// Splits an operand of such a problem ahead, from `slot` to D.
Step splitting_ahead(const Packing&, const Operand& from, const Problem& multiplied, VkgemmSlot slot,
                     const DeviceCaps&);

/// Sets the work groups of a step, and how they are dispatched.
void set_grid(Step&, uint64_t groups, const DeviceCaps&);

}  // namespace vkgemm::plan
