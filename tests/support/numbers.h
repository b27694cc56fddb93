// SPDX-License-Identifier: MIT
// What the tests need of elements beyond vkgemm/elements.hpp.
#pragma once
#include "vkgemm/elements.hpp"

namespace vkgemm::test {

using vkgemm::decode;
using vkgemm::encode;
using vkgemm::largest;

/// `value` as the type would hold it.
double rounded(Type type, double value);

/// Fills an element that may not be used: a quiet NaN with a payload, or a large odd number.
void poison(Type type, std::byte* bytes);

/// Half the distance between 1 and the next value, which is the relative error of one rounding. 0 for integers.
double unit_roundoff(Type type);

/// The smallest normal value, below which a device may flush to 0. 0 for integers.
inline double smallest_normal(Type type) { return smallestNormal(type); }

}  // namespace vkgemm::test
