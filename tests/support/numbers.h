// SPDX-License-Identifier: MIT
// Elements in memory and as numbers, one encode/decode pair per type.
#pragma once
#include <cstddef>
#include <cstdint>

#include "plan/problem/types.h"

namespace vkgemm::test {

/// The value of the element at `bytes`. Exact: every type here fits a double.
double decode(plan::Type type, const std::byte* bytes);

/// Writes `value`, rounded to nearest even (floats) or taken modulo 2^bits (integers; `value` must be whole).
void encode(plan::Type type, double value, std::byte* bytes);

/// `value` as the type would hold it.
double rounded(plan::Type type, double value);

/// What memory that no one may use is filled with: a quiet NaN with a payload, or a big odd number.
void poison(plan::Type type, std::byte* bytes);

/// Half the distance between 1 and the next value: the relative error of one rounding. 0 for integers.
double unit_roundoff(plan::Type type);

/// The smallest normal value: what a device that flushes subnormals may lose. 0 for integers.
double smallest_normal(plan::Type type);

/// The largest finite value.
double largest(plan::Type type);

}  // namespace vkgemm::test
