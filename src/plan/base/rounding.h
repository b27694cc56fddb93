// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>

#include "vkgemm/rounding.hpp"

namespace vkgemm::plan {

/// How many b hold a; b over 0.
constexpr uint64_t div_up(uint64_t a, uint64_t b) { return (a + b - 1) / b; }
/// The next multiple of b, a itself if it is one.
constexpr uint64_t round_up(uint64_t a, uint64_t b) { return roundUp(a, b); }

}  // namespace vkgemm::plan
