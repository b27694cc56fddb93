// SPDX-License-Identifier: MIT
// What a tuner tries on a problem.
#pragma once
#include <array>
#include <string>
#include <vector>

#include "vkgemm/vkgemm.hpp"

namespace vkgemm::tool {

struct Candidate {
    std::string kernel, tile;  // the tile has SPLIT and PACK, so that nothing is left to the cost model
    double cost = 0;           // predicted
    bool chosen = false;       // by the cost model
    std::array<double, VKGEMM_COST_PART_COUNT> parts{};  // of the cost, as VkgemmCandidate has them
};

/// Every kernel that serves, as the cost model would run it; and the `varied` that it ranks highest with K split
/// otherwise (not at all, half as often, twice as often) and with other operands packed. First what would be chosen
/// without tuned rows, then the others by predicted cost. Empty: nothing serves. Refused like vkgemmCreateExplanation.
/// The kernel and tile of `options` are not used.
Result<std::vector<Candidate>> candidates(const Context& context, const Problem& problem, PlanOptions options,
                                          size_t varied = 8);

/// What a plan takes, tuned rows included, in the same words. Candidate::chosen is false if a tuned row decided.
/// Refused like vkgemmCreatePlan.
Result<Candidate> chosen_candidate(const Context& context, const Problem& problem, const PlanOptions& options);

}  // namespace vkgemm::tool
