// SPDX-License-Identifier: MIT
// A driver's compiler, and what it makes of plans. A failure ends the program.
#pragma once
#include "plan/kernels/kernels.h"
#include "tools/vkgemm/measure/compiled.h"

namespace vkgemm::test {

/// One compiled dispatch of a plan, with the statistics that all drivers have.
struct Compiled {
    tool::CompiledStep step;
    tool::ShaderStats stats;
    const plan::Kernel& kernel() const { return *plan::find_kernel(step.kernel->info.name); }
};

/// A device with VK_KHR_pipeline_executable_properties.
struct Compiler {
    host::Device device;
    plan::DeviceCaps caps;
};

[[noreturn]] void give_up(const std::string& why);
Compiler open_compiler();

inline constexpr uint64_t typical_workspace = 64 << 20;  // bytes

/// The dispatches of a problem; empty if no kernel serves it. `kernel`: empty: the library chooses.
std::vector<Compiled> compile(const Compiler&, const std::string& line, const std::string& kernel = "",
                              uint64_t workspace = typical_workspace);

/// "–" if the driver does not report it.
std::string number(const std::optional<double>&);

}  // namespace vkgemm::test
