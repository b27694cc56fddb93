// SPDX-License-Identifier: MIT
// Converts elements between memory and numbers: one pair of encode and decode for each type.
#pragma once
#include <cstddef>
#include <cstdint>

#include "plan/problem/types.h"

namespace vkgemm::test {

/// The value of the element at `bytes`. It is exact, because a double holds every value of these types.
double decode(plan::Type type, const std::byte* bytes);

/// Writes `value`, rounded to nearest even (floats) or taken modulo 2^bits (integers; `value` must be whole).
void encode(plan::Type type, double value, std::byte* bytes);

/// `value` after it was stored as this type.
double rounded(plan::Type type, double value);

/// Fills memory that no kernel may use: with a quiet NaN that has a payload, or a large odd integer.
void poison(plan::Type type, std::byte* bytes);

/// Half the distance between 1 and the next value, which is the relative error of one rounding. 0 for integers.
double unit_roundoff(plan::Type type);

/// The smallest normal value, which is what a device that flushes subnormals may lose. 0 for integers.
double smallest_normal(plan::Type type);

/// The largest finite value.
double largest(plan::Type type);

}  // namespace vkgemm::test
