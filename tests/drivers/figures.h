// SPDX-License-Identifier: MIT
// What drivers tell of a compiled pipeline, in one set of words.
#pragma once
#include <optional>

#include "drivers/device.h"

namespace vkgemm::test {

struct Figures {
    std::optional<double> registers;  // of an invocation; Turnip counts them by fours
    std::optional<double> spills;     // instructions or values that go to memory for want of registers
    std::optional<double> scratch;    // bytes of memory for spills and arrays without registers; RADV: of a subgroup
    std::optional<double> shared;     // bytes of a work group
    std::optional<double> at_once;    // subgroups that a SIMD (RADV) or a core holds
    std::optional<double> code;       // bytes
    std::string matrix;               // instructions of the matrix units: "64 v_wmma"; "" where none was seen

    bool spill() const { return spills.value_or(0) > 0 || scratch.value_or(0) > 0; }
};

/// Empty where the driver tells nothing of spills or registers, by the words known here.
std::optional<Figures> figures_of(const Told&);

}  // namespace vkgemm::test
