// SPDX-License-Identifier: MIT
// What constants of --tile do to the choice of a kernel.
#pragma once
#include <string>

#include "vkgemm/host.hpp"

namespace vkgemm::tool {

/// Constants narrow the choice to kernels that can take them: says which kernel was passed over for `chosen`, and why;
/// "": none was.
std::string rejected_kernel(const host::Device&, const Problem&, const std::string& tile, const std::string& chosen);

}  // namespace vkgemm::tool
