// SPDX-License-Identifier: MIT
// The cost model: how long a kernel would take. The kernel with the least cost is chosen.
#pragma once
#include "plan/kernels/kernels.h"

namespace vkgemm::plan {

/// K is split into `slices` of depth `chunk`. Each writes its sum to the workspace, and `reducer` adds them in order.
struct SplitK {
    uint32_t slices = 1;  // 1: K is not split
    uint64_t chunk = 0;   // depth of a slice, a multiple of BK; k if K is not split
    const Kernel* reducer = nullptr;

    uint64_t workspace_bytes(const Problem& p) const;
};

/// Predicted time, on a GPU in cycles of a multiprocessor; comparable only within one problem on one device. `wide`: A
/// and B can be read in 16-byte chunks.
double cost(const Kernel&, const Tile&, const DeviceCaps&, const Problem&, const SplitK&, bool wide);

/// Whether neighbours in memory differ in k. For A and B.
bool is_k_contiguous(const Operand&);

/// Does a kernel with these costs run faster if the operand is transposed first?
bool prefers_transposed(const GpuCost&, const Operand&);

/// The cost of packing operands first: once for the pass, and for each operand by its bytes in the workspace.
/// `transposed`: rows become columns.
double first_pass_cost(const DeviceCaps&);
double packing_cost(const DeviceCaps&, uint64_t bytes, bool transposed, uint64_t groups);

/// The cost of the second pass alone.
double reducing_cost(const Kernel& reducer, const DeviceCaps&, const Problem&, uint32_t slices);

}  // namespace vkgemm::plan
