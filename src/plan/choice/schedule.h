// SPDX-License-Identifier: MIT
// The schedules on which a kernel can run a problem: K is split into slices or not, operands are packed first or not.
#pragma once
#include <string>

#include "plan/choice/cost.h"
#include "plan/choice/tuned.h"

namespace vkgemm::plan {

/// What the caller adds to the problem.
struct Request {
    std::string kernel;                // "": any
    std::string tile;                  // constants to replace, "BM=128"; "": the row's own
    bool addresses = false;            // operands are device addresses
    uint32_t operand_alignment = 16;   // bytes; a promise about every matrix operand
    uint64_t workspace_limit = 0;      // bytes that the caller is ready to bring; slices and packed operands want some
    const TunedRows* tuned = nullptr;  // may be null; not followed where a kernel or tile is asked for
};

/// An operand that a first pass copies to the workspace.
struct Packing {
    const Kernel* kernel = nullptr;  // null: the operand is read in place
    uint64_t offset = 0, bytes = 0;  // in the workspace
};

struct Schedule {
    Problem problem;  // as the product reads it: a packed A or B has the layout that it has in the workspace
    Packing a, b;
    SplitK split;
    uint64_t partial_offset = 0;  // where in the workspace the slices' sums begin
    double cost = 0;

    uint64_t workspace_bytes() const;
    std::array<Operand, 4> operands() const;  // of `problem`, those in the workspace padded
};

/// A and B can be read in 16-byte chunks throughout.
bool reads_wide(const std::array<Operand, 4>&, const Request&);

/// The schedule of least cost that the workspace allows. If the tile's SPLIT or PACK demands one, that schedule or the
/// reason against it. The kernel must fit the device and the problem.
Result<Schedule> best_schedule(const Kernel&, const Tile&, const DeviceCaps&, const Problem&, const Request&);

/// Elements that an operand may span: SPIR-V takes 32-bit indices as signed.
inline constexpr uint64_t max_span = INT32_MAX;

/// The part of unfit() that does not look at the problem (select.h).
std::optional<Status> unfit_device(const Kernel&, const Tile&, const DeviceCaps&);

}  // namespace vkgemm::plan
