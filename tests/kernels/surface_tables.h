// SPDX-License-Identifier: MIT
// Random tables of groups, some of which break one rule on purpose.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "kernels/run.h"
#include "support/random.h"
#include "vkgemm/groups.h"

namespace vkgemm::test {

/// One matrix of a group, in elements.
struct GroupPlace {
    uint64_t rows = 0, cols = 0, ld = 0, offset = 0;
    plan::Layout layout = plan::rowMajor;

    uint64_t lines() const { return layout == plan::rowMajor ? rows : cols; }
    uint64_t length() const { return layout == plan::rowMajor ? cols : rows; }
    uint64_t span() const { return rows && cols ? (lines() - 1) * ld + length() : 0; }
};

/// One group with the sizes that it counts with, its matrices (by slot, A to D), and the rule that it breaks.
struct DrawnGroup {
    VkgemmGroup given{};
    uint64_t m = 0, n = 0, k = 0;
    std::array<GroupPlace, 4> at{};
    VkgemmGroupFault fault = VKGEMM_GROUP_FAULT_NONE;
    size_t broken = 4;  // the matrix that breaks it; 4: none

    bool is_computed() const { return m && n && fault == VKGEMM_GROUP_FAULT_NONE; }
};

struct DrawnTable {
    std::vector<DrawnGroup> groups;
    std::vector<uint32_t> indices;
    std::array<uint64_t, 4> elements{};  // that each operand has
};

/// A table for the completed problem of a case, and its plan.
DrawnTable draw_table(Random&, const Case&, const plan::Problem& completed, const VkgemmPlanInfo&);

}  // namespace vkgemm::test
