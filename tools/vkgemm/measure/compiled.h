// SPDX-License-Identifier: MIT
// Plans, compiled by the driver of a device that inspects.
#pragma once
#include "measure/kernel_lookup.h"
#include "report/shader_stats.h"

namespace vkgemm::tool {

/// One dispatch of a plan: its kernel, and what the driver reports of its pipeline.
struct CompiledStep {
    const Kernel* kernel = nullptr;
    std::string tile;
    uint64_t declared_shared = 0;   // bytes of a work group that the shader declares or a launch of machine code asks
                                    // for; drivers may take more
    host::PipelineReport report{};  // empty if the device does not inspect
    std::string function{};         // of machine code; "": a shader
};

struct CompiledPlan {
    std::vector<CompiledStep> steps;  // in order
    double seconds = 0;               // that the driver took for what it had not compiled before
};

/// Of options: kernel, tile and workspaceLimit. A plan without steps: nothing to do.
Result<CompiledPlan> compile(const host::Device&, const Problem&, const PlanOptions& options);

}  // namespace vkgemm::tool
