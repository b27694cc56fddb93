// SPDX-License-Identifier: MIT
// How many registers the values of a subgroup take of each of its invocations.
#pragma once
#include <algorithm>

#include "plan/device/registers.h"
#include "plan/kernels/family.h"

namespace vkgemm::plan::family {

/// Of the fragments of A and B of one slice, whose elements have so many bytes.
constexpr double fragment_registers(const Tile& t, uint32_t bytes, const Registers& r) {
    return double(t.WM + t.WN) * t.MK * bytes / 4 / t.SG * r.fragment_copies;
}

/// Of the sums. Where a subgroup holds fragments twice, sums of 16 bits have a register each.
constexpr double sum_registers(const Tile& t, const ElementBytes& e, const Registers& r) {
    const uint32_t bytes = r.fragment_copies > 1 ? std::max(e.accumulator, 4U) : e.accumulator;
    return double(t.WM) * t.WN / t.SG * bytes / 4;
}

}  // namespace vkgemm::plan::family
