// SPDX-License-Identifier: MIT
// How a kernel is chosen for groups of a table, whose sizes are not known before they run.
#pragma once
#include "plan/steps/buckets.h"
#include "shaders/list_tiles/report.h"

namespace vkgemm::plan {

/// What the kernel of groups is chosen for: groups as large as is expected, which is as large as they may be, but with
/// index lists an even share of the rows and its square root; it also serves the smallest.
struct GroupedSearch {
    PreparedProblem problem;
    Request request;

    GroupedSearch(const PreparedProblem&, Request);
};

/// Where the list of tiles begins in the workspace, in bytes: after the VkgemmGroupReport.
inline constexpr uint32_t list_begin_bytes = 4 * REPORT_WORDS;

/// Both steps of groups of a table for a run with smaller sizes than `made` has. Allocates nothing.
void set_grouped_run(SizedSteps&, const Steps& made, const RunProblem&, const DeviceCaps&, uint32_t operand_alignment);

}  // namespace vkgemm::plan
