// SPDX-License-Identifier: MIT
// The numbers that the tool fills memory with. Pure.
#pragma once
#include "measure/type_info.h"
#include "vkgemm/formats.hpp"

namespace vkgemm::tool {

using vkgemm::decode;
using vkgemm::encode;

/// What memory is filled with that nobody may use: not-a-number in every float type, a number that no check computes in
/// integers. All four bytes are the same.
uint32_t poison(Type type);

/// splitmix64: the same sequence on every machine.
struct Random {
    uint64_t state;
    uint64_t next() { return splitmix64(state); }
    /// As next(), `count` times.
    void skip(uint64_t count) { state += count * 0x9e3779b97f4a7c15u; }
};

/// A random element for timing: uniform in [-1, 1) in float types, any bits in integers.
double random_value(Type type, Random& random);

}  // namespace vkgemm::tool
