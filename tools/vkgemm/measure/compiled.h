// SPDX-License-Identifier: MIT
// Plans, compiled by the driver of a device that inspects.
#pragma once
#include "tools/vkgemm/report/shader_stats.h"
#include "tools/vkgemm/measure/planned_problem.h"

namespace vkgemm::tool {

/// One dispatch of a plan: which row it is, and what the driver tells of its pipeline.
struct CompiledStep {
    const plan::Kernel* kernel = nullptr;
    plan::Tile tile;
    host::PipelineReport told;  // empty where the device does not inspect

    /// Of a work group, as the shader declares it; drivers may take more.
    uint64_t declared_shared() const;
};

struct CompiledPlan {
    std::vector<CompiledStep> steps;  // in order
    double seconds = 0;               // that the driver took for what it had not compiled before
};

/// Of options: kernel, tile and workspaceLimit. A plan without steps: nothing to do.
Result<CompiledPlan> compile(const host::Device&, const plan::DeviceCaps&, const Problem&, const PlanOptions& options);

}  // namespace vkgemm::tool
