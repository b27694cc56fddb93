// SPDX-License-Identifier: MIT
#pragma once
#include <cmath>
#include <cstdint>

#include "vkgemm/rounding.hpp"

namespace vkgemm::plan {

/// How many b hold a; b over 0.
constexpr uint64_t div_up(uint64_t a, uint64_t b) { return divUp(a, b); }
/// The next multiple of b, a itself if it is one.
constexpr uint64_t round_up(uint64_t a, uint64_t b) { return roundUp(a, b); }
/// div_up() of numbers that may be too large for uint64_t, or no whole ones.
inline double ceil_of(double a, double b) { return std::ceil(a / b); }

}  // namespace vkgemm::plan
