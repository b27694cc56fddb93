// SPDX-License-Identifier: MIT
// Tuned rows: what measuring has shown to be the fastest. One a line, '#' begins a comment:
//
//     DEVICE | PROBLEM | KERNEL | TILE
//     NVIDIA H200 | f16*f16 1024x1024x1024 | coopmat_f16_128x64x64 | SPLIT=1,PACK=1
//
// A row is for the devices whose name DEVICE is a part of. PROBLEM is a problem's line; its alpha, beta, C and epilogue
// do not count. TILE are constants to replace in the kernel's own; it may be empty.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "plan/base/result.h"
#include "plan/kernels/kernels.h"

namespace vkgemm::plan {

struct TunedRow {
    std::string device, kernel, tile;
    Problem problem;      // normalised
    std::string text;     // the line, without its comment
    std::string skipped;  // why it is not followed on the device that tuned_for() was asked about; "": it is
};

/// Refusals (VKGEMM_ERROR_PARSE) name the line. That a kernel exists and fits is for tuned_for() to say.
Result<std::vector<TunedRow>> parse_tuned(std::string_view text);

/// src/plan/choice/tuned.txt
std::string_view built_in_tuned();

/// Those of `rows` that are for this device, in their order, each with the reason where it cannot be followed.
std::vector<TunedRow> tuned_for(const DeviceCaps&, std::span<const TunedRow> rows);

/// How far `p` (normalised) lies from a row: the sum of the |log| of the ratios of m, n, k and batch. nullopt: the row
/// says nothing of `p`, for one of them is more than 1.5 times the other's, or types, layouts of A and B, batching, or
/// which of A and B can be read in 16-byte chunks differ.
std::optional<double> tuned_distance(const TunedRow&, const Problem& p, uint32_t operand_alignment);

/// The nearest row that is followed on the device; of equally near ones the first. Null: none is near.
const TunedRow* nearest_tuned(std::span<const TunedRow> rows, const Problem& p, uint32_t operand_alignment);

/// The rows that would be near `p` but are skipped, a sentence each, for explaining.
std::vector<std::string> skipped_near(std::span<const TunedRow> rows, const Problem& p, uint32_t operand_alignment);

/// All skipped rows in few sentences, for a log: one for each reason.
std::vector<std::string> skipped_in_short(std::span<const TunedRow> rows);

}  // namespace vkgemm::plan
