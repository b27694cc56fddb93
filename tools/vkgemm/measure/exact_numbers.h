// SPDX-License-Identifier: MIT
// Whole numbers for A and B whose sums over k are exact in any order, and small. Pure.
#pragma once
#include <cstdint>
#include <vector>

#include "measure/cases.h"

namespace vkgemm::tool {

/// What the sums over k must keep to.
struct ExactLimits {
    int64_t terms = 0;  // for the sizes of all terms of a sum together: then every order of adding them up is exact
    int64_t sum = 0;    // for twice the size of a whole sum, plus `others`
    static constexpr int64_t others = 32;  // c, bias and residual together
};

/// Row-major and dense, whatever the layouts; one matrix where all of a batch share it.
struct ExactNumbers {
    std::vector<int8_t> a, b;
};

/// Where sums of `k` terms keep to the limits by themselves: numbers up to 7. Where D is too short for that every k
/// still counts: the second half of k, walked from its end, takes back what the first half adds, term by term, and in a
/// few places of each row twice over. Whoever leaves k out is off by their terms, unless it leaves out both ends alike;
/// lanes and slices that are near one another at one end are not so at the other. An accumulator too short for all
/// terms has some of them in each row, others in others. Types without a sign cannot take back: of those all but a few
/// are 0, others in each row.
ExactNumbers exact_numbers(const Resolved& r, uint64_t k, const ExactLimits& limits, uint64_t seed);

}  // namespace vkgemm::tool
