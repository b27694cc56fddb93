// SPDX-License-Identifier: MIT
// The statistics of compiled pipelines, whose names differ by driver, under common names. Pure.
#pragma once
#include <optional>
#include <string>

#include "vkgemm/host.hpp"

namespace vkgemm::tool {

struct ShaderStats {
    std::optional<double> registers;  // of an invocation; Turnip counts them by fours
    std::optional<double> spills;     // instructions or values that go to memory because registers ran out
    std::optional<double> scratch;    // bytes of memory for spills and arrays without registers; RADV: of a subgroup
    std::optional<double> shared;     // bytes of a work group
    std::optional<double> at_once;    // subgroups that a SIMD (RADV) or a core holds
    std::optional<double> code;       // bytes
    std::string matrix;               // instructions of the matrix units: "64 v_wmma"; "" if there are none

    bool spill() const { return spills.value_or(0) > 0 || scratch.value_or(0) > 0; }
};

/// The statistics whose names are known.
ShaderStats shader_stats_of(const host::PipelineReport&);

/// The assembly; null if the driver provides none.
const host::PipelineReport::Text* assembly_of(const host::PipelineReport&);

}  // namespace vkgemm::tool
