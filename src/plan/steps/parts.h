// SPDX-License-Identifier: MIT
// A problem with operands beyond what one dispatch reaches is cut into parts that each stay below; so is one that is
// computed from int8, if it needs more workspace than there is, or k is above the limit of its sums.
#pragma once
#include <vector>

#include "plan/choice/select.h"

namespace vkgemm::plan {

/// The parts of a normalised problem, in the order in which they run; the problem itself if it need not, or cannot, be
/// cut, which select() then refuses. Each has one size, and is repeated for all blocks of that size (the first
/// is at Normalised::begin). Parts of K add to D, so the later ones wait for the earlier ones.
std::vector<Normalised> parts_of(const Normalised&, const DeviceCaps&, Binding, uint64_t workspace_limit = UINT64_MAX);

}  // namespace vkgemm::plan
