// SPDX-License-Identifier: MIT
// The schedules on which a kernel can run a problem: K is split into slices or not, operands are packed first or not.
#pragma once
#include "plan/choice/device_kernels.h"
#include "plan/choice/request.h"

namespace vkgemm::plan {

/// An operand that a first pass copies to the workspace, or that was packed before the run.
struct Packing {
    const Kernel* kernel = nullptr;  // null: the operand is read in place
    uint64_t offset = 0, bytes = 0;  // in the workspace; if it was packed ahead, in its own operand
    uint64_t key = 0;                // of the layout, if it was packed ahead; otherwise VKGEMM_PACKED_NONE

    bool in_workspace() const { return kernel && !key; }
};

struct Schedule {
    Problem problem;  // as the product reads it: a packed A or B has the layout that it has in the workspace
    Packing a, b;
    SplitK split;
    const Kernel* finisher = nullptr;  // null: the last pass before it has the epilogue, if there is one
    uint64_t partial_offset = 0;       // where in the workspace the slices' sums begin
    uint32_t sums_unit = 1;            // elements that a row of sums is a multiple of
    uint32_t sum_bytes = 0;            // of one there
    double cost = 0;
    CostParts parts;  // of the cost, before they are weighted

    uint64_t workspace_bytes() const;
    /// Elements between rows of the slices' sums.
    uint64_t sums_pitch() const { return (problem.n + sums_unit - 1) / sums_unit * sums_unit; }
    std::array<Operand, 4> operands() const;  // of `problem`, those that are packed padded
};

/// A and B can be read in 16-byte chunks throughout.
bool reads_wide(const std::array<Operand, 4>&, const Request&);

/// Whether the chunks of 64 elements of B that an invocation or work group of gemv_blocks loads are whole multiples of
/// 16 bytes, and begin at multiples of 16 bytes in every column. Groups of a table are not wide, because list_tiles
/// counts their elements and not their blocks.
bool has_wide_chunk64(const Schedule&, const Kernel&, const Tile&, const Request&);

/// A kernel that fits the device with this tile, which may differ from its own.
struct TiledKernel {
    const Kernel& kernel;
    const Tile& tile;
    const KernelCost& cost;
};

/// The schedule of least cost that the workspace allows. If the tile's SPLIT or PACK demands one, that schedule or the
/// reason against it. The kernel must fit the problem too.
Result<Schedule> best_schedule(const TiledKernel&, const DeviceKernels&, const Problem&, const Request&);

/// The same, if it costs less than `limit`; otherwise, and if there is a reason against it, nullopt. Most kernels are
/// ruled out by less work than best_schedule() takes, and no reason is put into words.
std::optional<Schedule> schedule_below(double limit, const TiledKernel&, const DeviceKernels&, const Problem&,
                                       const Request&);

/// No more than the cost of any schedule of the kernel.
double least_cost(const TiledKernel&, const DeviceKernels&, const Problem&, const Request&);

/// The schedule for a problem that differs in sizes alone, which are no larger: the same passes with their kernels, and
/// no more workspace. K is above 0. Neither searches nor allocates.
Schedule resized(const Schedule&, const Kernel&, const Tile&, const Problem& smaller);

}  // namespace vkgemm::plan
