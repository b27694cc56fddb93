// SPDX-License-Identifier: MIT
#include "plan/steps/grouped.h"

#include <algorithm>
#include <utility>

#include "plan/base/rounding.h"

namespace vkgemm::plan {

GroupedSearch::GroupedSearch(const Problem& normalised, Request asked)
    : expected(normalised), least(normalised), request(std::move(asked)) {
    if (expected.grouping == VKGEMM_GROUPING_INDEXED)
        expected.m = std::max<uint64_t>(1, div_up(expected.m, expected.batch));
    for (const auto& [bit, size] :
         {std::pair{VKGEMM_UP_TO_M, &least.m}, {VKGEMM_UP_TO_N, &least.n}, {VKGEMM_UP_TO_K, &least.k}})
        if (least.upTo & bit) *size = std::min<uint64_t>(*size, 1);
    least.batch = 1;
    request.least = &least;
    request.addresses = true;     // which the list has
    request.workspace_limit = 0;  // K is not split, and nothing is packed
    request.tuned = nullptr;      // rows are of single products
}

}  // namespace vkgemm::plan
