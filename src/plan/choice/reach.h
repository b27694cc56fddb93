// SPDX-License-Identifier: MIT
// What one dispatch reaches: 32-bit indices, and the bytes of one descriptor.
#pragma once
#include "plan/choice/binding.h"

namespace vkgemm::plan {

/// Whether an operand of the normalised problem is larger than 32-bit indices, or one descriptor, reach.
bool beyond_reach(const Problem&, const Operand&, const DeviceCaps&, Binding);

/// Sizes beyond what 32-bit indices and one descriptor reach.
std::optional<Status> too_large(const DeviceCaps&, const Problem& normalised, Binding);

}  // namespace vkgemm::plan
