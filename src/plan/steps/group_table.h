// SPDX-License-Identifier: MIT
// What the pass list_tiles makes of a table of groups, computed on the host: which groups a run computes, which it
// skips, and why. Both apply the same rules, which VkgemmGroup states.
#pragma once
#include <array>
#include <span>
#include <string>

#include "plan/steps/steps.h"
#include "vkgemm/groups.h"

namespace vkgemm::plan {

/// VkgemmPlanInfo::groupAlignment: by VKGEMM_SLOT_A to _D, of what the leading dimensions and offsets of groups must be
/// multiples, in bytes; 0 if groups have no such matrix. `list` is the step that lists the tiles.
std::array<uint32_t, 4> group_alignment(const Step& list);

/// The report of a run whose table is `groups`. `table` has the arguments of `list` for this run, its addresses too.
VkgemmGroupReport check_table(const Step& list, const abi::TableArgs& table, std::span<const VkgemmGroup> groups);

/// Why the run skips the report's first skipped group, in words.
std::string why_skipped(const Step& list, const abi::TableArgs& table, std::span<const VkgemmGroup> groups,
                        const VkgemmGroupReport&);

/// Which group is the first with a size above its bound, in words; one is.
std::string why_clamped(const Step& list, const abi::TableArgs& table, std::span<const VkgemmGroup> groups);

/// Counts in the report, which check_table() made, the indices that have no row of D. The first of them in words; empty
/// if there is none.
std::string check_indices(const Step& list, const abi::TableArgs& table, std::span<const VkgemmGroup> groups,
                          std::span<const uint32_t> indices, VkgemmGroupReport&);

/// The report of products that multiply by the matrices of B which `indices` select, if there are `matrices` of them.
VkgemmGroupReport check_selection(std::span<const uint32_t> indices, uint32_t matrices);
std::string why_not_selected(std::span<const uint32_t> indices, uint32_t matrices, const VkgemmGroupReport&);

}  // namespace vkgemm::plan
