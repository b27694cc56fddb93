// SPDX-License-Identifier: MIT
// What a schedule is put together from: operands that are packed first, and slices of K.
#pragma once
#include "plan/base/concat.h"
#include "plan/choice/schedule.h"

namespace vkgemm::plan {

/// Of the parts of the workspace; more than any device wants.
inline constexpr uint64_t region_alignment = 256;

/// What one search for a schedule is given, beside the kernel, its tile and the problem.
struct ScheduleSearch {
    const DeviceKernels& device;
    const Request& request;
    double limit;  // schedules that cost as much are not wanted
    Wording wording;

    const DeviceCaps& dev() const { return device.caps(); }
    Refusal refusal(VkgemmResult code, std::initializer_list<TextPiece> text) const {
        return plan::refusal(wording, code, text);
    }
};

// packing.cpp. A mask has 1 for A and 2 for B.

/// The operands that come packed, as a mask.
uint32_t packed_ahead(const Problem&);
/// The refusal of an operand that was packed with the key `ahead`, where a kernel reads the layout of another.
Refusal packed_otherwise(const Operand&, uint64_t ahead, uint64_t key);
/// The operands that a first pass converts to the type that the kernel multiplies, as a mask.
uint32_t converted(const Kernel&, const Problem&);
/// Why these operands cannot be converted, or be left as the tile's PACK leaves them.
std::optional<Status> not_converted(uint32_t mask, const Kernel&, const Tile&, const Problem&, const ScheduleSearch&);
/// Which operands are worth a copy, as a mask.
uint32_t worth_packing(const Kernel&, const Problem&, const Request&);
/// No more than what packing the operands of `mask` costs before the product, nothing if it packs none.
double least_packing(uint32_t mask, const Kernel&, const Problem&, const DeviceCaps&);
/// Describes `x` as packed, at the end of the workspace so far, or, if it comes packed, in its own operand. Returns its
/// rows there.
uint64_t place(const Schedule&, Packing&, Matrix&, const Operand& x, bool ahead, const Kernel&, const Tile&);
/// The same with packer and cost, 0 if it comes packed (`ahead`). Refused by size, by layout, or without a packer.
std::optional<Status> pack(Schedule&, Packing&, Matrix&, const Operand&, uint64_t ahead, const Kernel&, const Tile&,
                           const ScheduleSearch&);

// split_k.cpp

/// Without its reducer.
SplitK split_of(uint32_t wanted, const Tile&, const Problem&);
/// Adds the slices that the tile's SPLIT demands, or, if SPLIT is 0, those of least cost that the workspace allows.
std::optional<Status> choose_split_k(Schedule&, const Tile&, const ProductCost&, const OperandEffects&,
                                     const ScheduleSearch&);

}  // namespace vkgemm::plan
