// SPDX-License-Identifier: MIT
// Plans for sizes that vary. The sizes up to the problem's are divided into buckets, and a kernel is chosen for each
// when the plan is made. Recording finds the bucket of its sizes and fills in the arguments.
#pragma once
#include "plan/steps/steps.h"

namespace vkgemm::plan {

/// Sizes, in the caller's terms, between `least` and `most`, of which those in `multiples` (VkgemmUpToFlagBits) are
/// multiples of `quantum`, so that their rows are read 16 bytes at a time. With VKGEMM_UP_TO_STRIDES among those bits
/// it is for runs whose strides are too (are_wide).
struct SizeRange {
    Sizes least, most;
    uint32_t multiples = 0;
    uint64_t quantum = 1;

    bool holds(const Sizes&, bool wide = true) const;
};

/// Ranges that cover all sizes of a completed problem with upTo, 0 excepted for m, n and batch. The first that holds
/// some sizes is the one for them; the last holds the largest.
std::vector<SizeRange> size_ranges(const Problem& completed, uint32_t operand_alignment);

/// The problem for which the kernel of a range is chosen: with its largest sizes, and its smallest in `least`. Where
/// rows have every length, they are ragged.
PreparedProblem in_range(const SizeRange&, const PreparedProblem&);

/// A range with its kernel. Every pipeline of its steps has WHOLE 0, but if `may_be_whole`, the product has a second
/// one with WHOLE 1 for sizes that are multiples of the tile.
struct Bucket {
    SizeRange range;
    Choice choice;
    Steps steps;  // of the largest sizes
    bool may_be_whole = false;
};
/// `p` is `whole` in the range.
Bucket make_bucket(const SizeRange&, const Choice&, const PreparedProblem& whole, const PreparedProblem& p,
                   const DeviceCaps&, const Request&);
/// The index of the product among its steps, and that step with WHOLE 1.
size_t product_of(const Bucket&);
Step whole_product(const Bucket&);

/// null: m, n or batch is 0. The sizes were checked by unfit_sizes(). wide: of a run with strides of its own,
/// are_wide().
const Bucket* find_bucket(std::span<const Bucket>, const Sizes&, bool wide = true);

/// What a run with these sizes records.
struct SizedSteps {
    Problem problem;  // completed, with these sizes
    BySlot<Requirement> slots;
    std::array<Step, most_steps> steps;
    size_t count = 0;
    Repeats part;
    std::optional<abi::TableArgs> table;  // as Steps::table
    bool is_whole = false;                // the product's pipeline is the one with WHOLE 1
};
/// A caller's problem as a run has it, completed and normalised.
struct RunProblem {
    Problem completed;
    Normalised normalised;
};
RunProblem with_sizes(const PreparedProblem&, const Sizes&);
/// Neither searches nor allocates. A run that finds no bucket has no steps and needs no operands.
void set_run(SizedSteps&, const Bucket*, const RunProblem&, const DeviceCaps&, uint32_t operand_alignment);
/// Of a run with strides of its own, which of_run() has completed: why the kernels that were chosen cannot reach it.
std::optional<Status> unfit_strides(const RunProblem&, const DeviceCaps&, Binding);

/// Why a plan for this problem does not serve these sizes: one is above the largest, or differs from a fixed one.
std::optional<Status> unfit_sizes(const Problem& completed, const Sizes&);

/// "up to 64x4096x4096", with "batch" if that is not 1; for explanations.
std::string to_text(const SizeRange&);

}  // namespace vkgemm::plan
