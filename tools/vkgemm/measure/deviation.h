// SPDX-License-Identifier: MIT
// How far a result on random operands is from the exact one. Pure.
#pragma once
#include <span>

#include "measure/measure.h"

namespace vkgemm::tool {

/// Whether deviation_of() applies: floating-point sums without C and epilogue, of a moderate size.
bool has_deviation(const Case& c);

/// |D - exact| divided by the sum of |alpha a b| over k: the largest of some elements of D. `d` holds D's span. Sums
/// are computed in f64. A NaN counts as infinity.
double deviation_of(const Case& c, const OperandBytes& operands, std::span<const std::byte> d);

}  // namespace vkgemm::tool
