// SPDX-License-Identifier: MIT
// The part of vkgemm inspect that reads assembly: what the inner loop of a kernel keeps busy, and the bound of that.
#pragma once
#include "assembly/bound.h"
#include "commands/command.h"
#include "measure/compiled.h"

namespace vkgemm::tool::inspect_command {

/// What the loops are judged by.
struct BoundOptions {
    const Architecture* architecture = nullptr;  // null: its numbers are not known, and there is no bound
    uint32_t subgroup_size = 0;                  // of kernels that ask for none
};

/// With the row of that name, or that of the device if it is empty. Refused if no row has the name.
Result<BoundOptions> bound_options(const std::string& architecture, const host::DeviceInfo& device);

Table loop_table(size_t name_width);
void add_loop(Table&, const std::string& name, const CompiledStep&, const BoundOptions&);
/// null if the assembly cannot be read, or no loop multiplies.
nlohmann::ordered_json loop_json(const CompiledStep&, const BoundOptions&);

}  // namespace vkgemm::tool::inspect_command
