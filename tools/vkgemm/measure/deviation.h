// SPDX-License-Identifier: MIT
// How far a result on random operands is from the exact one. Pure.
#pragma once
#include <span>

#include "measure/measure.h"

namespace vkgemm::tool {

/// Has the case a deviation that can be told? A sum of floats, with no C and no epilogue, of a moderate size.
bool has_deviation(const Case& c);

/// |D - exact| by the sum of |alpha a b| over k, the largest over some elements of D; `d` is what D's span holds.
/// Sums are taken in f64. A D that is no number is infinitely far off.
double deviation_of(const Case& c, const OperandBytes& operands, std::span<const std::byte> d);

}  // namespace vkgemm::tool
