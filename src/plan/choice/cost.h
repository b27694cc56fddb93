// SPDX-License-Identifier: MIT
// The cost model: how long a kernel would take. Choosing is the least of these numbers.
#pragma once
#include "plan/kernels/kernels.h"

namespace vkgemm::plan {

/// K cut into `slices` of `chunk`, each summed by itself into the workspace, then added up in order by `reducer`.
struct SplitK {
    uint32_t slices = 1;  // 1: not cut
    uint64_t chunk = 0;   // depth of a slice, a multiple of BK; k where it is not cut
    const Kernel* reducer = nullptr;

    uint64_t workspace_bytes(const Problem& p) const;
};

/// Predicted time, on a GPU in cycles of a multiprocessor; comparable only within one problem on one device. `wide`: A
/// and B can be read in 16-byte chunks.
double cost(const Kernel&, const Tile&, const DeviceCaps&, const Problem&, const SplitK&, bool wide);

/// k is the index that runs over neighbours of A or B.
bool is_k_contiguous(const Operand&);

/// Does a kernel with these costs run faster if the operand is transposed first?
bool prefers_transposed(const Speed&, const Operand&);

/// What bringing operands into shape first costs: once for the pass, and for each operand by its bytes in the
/// workspace, `transposed` where rows become columns.
double first_pass_cost(const DeviceCaps&);
double packing_cost(const DeviceCaps&, uint64_t bytes, bool transposed, uint64_t groups);

/// What the second pass alone would take.
double reducing_cost(const Kernel& reducer, const DeviceCaps&, const Problem&, uint32_t slices);

}  // namespace vkgemm::plan
