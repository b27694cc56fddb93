// SPDX-License-Identifier: MIT
// What the machine code of native kernels states of itself, as drivers do of what they compile from SPIR-V.
#pragma once
#include "measure/compiled.h"
#include "report/cubin.h"

namespace vkgemm::tool {

/// One step for each function of a native kernel, which differ in the layouts of A and B. No device is needed. Refused
/// if this build does not have the code.
Result<std::vector<CompiledStep>> native_functions(const Kernel& kernel);

/// Adds to the native steps of a compiled plan, made with these options, what their functions state.
Status add_machine_code(const host::Device&, const Problem&, const PlanOptions&, CompiledPlan&);

}  // namespace vkgemm::tool
