// SPDX-License-Identifier: MIT
// What the tests need of elements beyond vkgemm/elements.hpp.
#pragma once
#include "vkgemm/elements.hpp"

namespace vkgemm::test {

using vkgemm::decode;
using vkgemm::encode;
using vkgemm::largest;

/// `value` after it was stored as this type.
double rounded(Type type, double value);

/// Fills memory that no kernel may use: with a quiet NaN that has a payload, or a large odd integer.
void poison(Type type, std::byte* bytes);

/// Half the distance between 1 and the next value, which is the relative error of one rounding. 0 for integers.
double unit_roundoff(Type type);

/// The smallest normal value, which is what a device that flushes subnormals may lose. 0 for integers.
inline double smallest_normal(Type type) { return smallestNormal(type); }

}  // namespace vkgemm::test
