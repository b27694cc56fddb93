// SPDX-License-Identifier: MIT
// What a tuner tries on a problem.
#pragma once
#include <string>
#include <vector>

#include "vkgemm/vkgemm.hpp"

namespace vkgemm::tool {

struct Candidate {
    std::string kernel, tile;  // the tile has SPLIT and PACK, so that nothing is left to the cost model
    double cost = 0;           // predicted
    bool chosen = false;       // by the cost model
};

/// Every kernel that serves, as the cost model would run it; and those that it ranks highest with K split otherwise
/// (not at all, half as often, twice as often) and with other operands packed. First what would be chosen without tuned
/// rows, then the others by predicted cost. Empty: nothing serves. Refused like vkgemmCreateExplanation.
Result<std::vector<Candidate>> candidates(const Context& context, const Problem& problem, uint64_t workspace_limit);

}  // namespace vkgemm::tool
