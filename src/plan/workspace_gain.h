// SPDX-License-Identifier: MIT
// What a plan would gain from more workspace. Pure.
#pragma once
#include "plan/plan.h"

namespace vkgemm::plan {

/// The plan that a larger workspace allows.
struct WorkspaceGain {
    const Kernel* kernel = nullptr;  // of the largest sizes
    uint64_t bytes = 0;              // that it needs
    double factor = 1;               // the predicted cost without that workspace, divided by the cost with it
    uint32_t slices = 1;             // of K; the rest of the workspace holds copies of A and B
};

/// The largest workspace that is considered; more is not worth asking for.
inline constexpr uint64_t largest_useful_workspace = uint64_t{1} << 30;

/// The gain of a workspace above Request::workspace_limit, if it is predicted to be worth a word. Of workspaces that
/// gain about the same, the smallest. Plans the problem up to five times, so it is computed only when somebody asks.
std::optional<WorkspaceGain> workspace_gain(const DeviceKernels&, const Plan&, const Request&);

/// "a workspace of 25165824 bytes (24 MiB) allows NAME with K in 2 slices: predicted 2.1 times faster"
std::string to_text(const WorkspaceGain&);

}  // namespace vkgemm::plan
