// SPDX-License-Identifier: MIT
// Fits the weights of the cost model to measurements: so that what it would choose takes little longer than the best.
// Pure.
#pragma once
#include <array>
#include <map>
#include <string>
#include <vector>

#include "measure/loss.h"

namespace vkgemm::tool {

using CostParts = std::array<double, VKGEMM_COST_PART_COUNT>;
using FamilyWeights = std::map<std::string, CostParts>;  // by family; one that is not there has 1 for each part

/// What was timed of one problem.
struct FitSample {
    std::string family;
    CostParts parts{};
    double seconds = 0;
};
using FitProblem = std::vector<FitSample>;

/// Of what was timed, without what failed.
FitProblem fit_problem(const Regret& regret);

struct Fit {
    FamilyWeights weights;  // empty: none is better than the model as it is
    Losses before, after;   // of the model alone, and of the fitted one on the problems that it was fitted to
    Losses crossed;         // on each half of the problems, fitted to the other half
};

/// Deterministic. Weights are held near 1 as firmly as suits the half of the problems that is not fitted to.
Fit fit_weights(const std::vector<FitProblem>& problems);

/// The losses of choosing what costs the least with these weights.
Losses losses_with(const std::vector<FitProblem>& problems, const FamilyWeights& weights);

/// The fields KERNEL and TILE of a tuned row: "simt | launch=1.1,steps=0.93".
std::string weights_text(const std::string& family, const CostParts& weights);

}  // namespace vkgemm::tool
