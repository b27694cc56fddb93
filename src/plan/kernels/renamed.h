// SPDX-License-Identifier: MIT
// Kernel names of vkgemm 0.1, which 0.2 understands in tuned rows, disabled kernels, options and VKGEMM_KERNEL, with a
// warning. To be removed in 0.3.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace vkgemm::plan {

/// The present name of the kernel that vkgemm 0.1 called `old`. nullopt: `old` is a present name, or no kernel's.
std::optional<std::string> renamed_kernel(std::string_view old);

/// The warning for the log.
std::string renamed_text(std::string_view old, std::string_view present);

}  // namespace vkgemm::plan
