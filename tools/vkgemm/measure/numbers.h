// SPDX-License-Identifier: MIT
// Elements in memory, and random ones. Pure.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "measure/types.h"

namespace vkgemm::tool {

/// Writes `value`, rounded to nearest even; integers are cut to their bits (`value` must be whole).
void encode(Type type, double value, std::byte* bytes);
double decode(Type type, const std::byte* bytes);
/// As many elements as there is room for, `step` elements apart.
void decode(Type type, const std::byte* first, uint64_t step, std::span<double> values);

/// What memory is filled with that nobody may use: not-a-number in every float type, a number that no check computes in
/// integers.
uint32_t poison(Type type);

/// splitmix64: the same sequence on every machine.
struct Random {
    uint64_t state;
    uint64_t next();
};

/// A random element for timing: uniform in [-1, 1) in float types, any bits in integers.
double random_value(Type type, Random& random);

}  // namespace vkgemm::tool
