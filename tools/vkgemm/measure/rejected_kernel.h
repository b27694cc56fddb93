// SPDX-License-Identifier: MIT
// How the constants of --tile change the choice of a kernel.
#pragma once
#include <string>

#include "vkgemm/host.hpp"

namespace vkgemm::tool {

/// Constants narrow the choice to kernels that can take them. A sentence that names the kernel that would be chosen
/// without them, and why it was rejected; "" if that is `chosen`. Kernel and tile of `options` are not used.
std::string rejected_kernel(const host::Device&, const Problem&, PlanOptions options, const std::string& tile,
                            const std::string& chosen);

}  // namespace vkgemm::tool
