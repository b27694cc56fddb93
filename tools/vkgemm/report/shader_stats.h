// SPDX-License-Identifier: MIT
// What drivers tell of a compiled pipeline, in one set of words. Pure.
#pragma once
#include <optional>
#include <string>

#include "vkgemm/host.hpp"

namespace vkgemm::tool {

struct ShaderStats {
    std::optional<double> registers;  // of an invocation; Turnip counts them by fours
    std::optional<double> spills;     // instructions or values that go to memory for want of registers
    std::optional<double> scratch;    // bytes of memory for spills and arrays without registers; RADV: of a subgroup
    std::optional<double> shared;     // bytes of a work group
    std::optional<double> at_once;    // subgroups that a SIMD (RADV) or a core holds
    std::optional<double> code;       // bytes
    std::string matrix;               // instructions of the matrix units: "64 v_wmma"; "" where none was seen

    bool spill() const { return spills.value_or(0) > 0 || scratch.value_or(0) > 0; }
};

/// What of it is told in words known here.
ShaderStats shader_stats_of(const host::PipelineReport&);

/// The text that a processor runs, as the driver gives it; null: it gives none.
const host::PipelineReport::Text* assembly_of(const host::PipelineReport&);

}  // namespace vkgemm::tool
