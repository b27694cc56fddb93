// SPDX-License-Identifier: MIT
// Elements as they lie in memory. Pure.
#pragma once
#include "plan/problem/types.h"
#include "vkgemm/elements.hpp"

namespace vkgemm::tool {

using vkgemm::decode;
using vkgemm::encode;

/// What memory is filled with that nobody may use: not-a-number in every float type, a number that no check computes in
/// integers.
uint32_t poison(plan::Type type);

/// splitmix64: the same sequence on every machine.
struct Random {
    uint64_t state;
    uint64_t next() { return splitmix64(state); }
};

/// A random element for timing: uniform in [-1, 1) in float types, any bits in integers.
double random_value(plan::Type type, Random& random);

}  // namespace vkgemm::tool
