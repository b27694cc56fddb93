// SPDX-License-Identifier: MIT
// What a tuner tries on a problem. Pure.
#pragma once
#include <string>
#include <vector>

#include "plan/choice/select.h"

namespace vkgemm::tool {

struct Candidate {
    std::string kernel, tile;  // the tile says SPLIT and PACK, so that nothing is left to the cost model
    double cost = 0;           // predicted
    bool chosen = false;       // by the cost model
};

/// Every kernel that serves, as the cost model would run it; and those that it ranks highest with K cut otherwise (not
/// at all, half as often, twice as often) and with other operands packed. First what would be chosen without tuned
/// rows, then the others by predicted cost. `p` is normalised. Empty: nothing serves.
std::vector<Candidate> candidates(const plan::DeviceCaps& caps, const plan::Problem& p, const plan::Request& request);

}  // namespace vkgemm::tool
