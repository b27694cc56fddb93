// SPDX-License-Identifier: MIT
// Scalars in memory: what a run is given there, and whether what it noted of D is right.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "measure/cases.h"

namespace vkgemm::tool {

/// A VkgemmScalars; empty if the problem has none.
std::vector<std::byte> scalar_bytes(const Problem&, double alpha, double beta);

/// What is wrong with the VkgemmScalars at `noted`, of a run that stored `d`, whose elements are finite and right.
std::optional<std::string> wrong_scalars(const Problem&, const Resolved&, const std::byte* noted,
                                         std::span<const std::byte> d);

}  // namespace vkgemm::tool
