// SPDX-License-Identifier: MIT
// The least time of a loop, by what its instructions keep busy: a bound on the rate that a kernel can reach, whatever
// hides the latency of its loads. Pure.
#pragma once
#include "assembly/program.h"

namespace vkgemm::tool {

/// What a SIMD (AMD) or a quarter of a multiprocessor (NVIDIA) does in a cycle, with its share of what several have in
/// common. Rows of architectures.def, which has the sources.
struct Architecture {
    std::string_view name;
    std::string_view devices;            // parts of the names of its devices, "|" between them
    double vector_lanes = 0;             // invocations that an ordinary vector instruction serves
    double multiply_add_lanes = 0;       // the same of multiply-adds of f32
    double shared_bytes = 0;             // of shared memory
    double memory_bytes = 0;             // of the first-level cache
    double issued = 0;                   // instructions, of all subgroups; 0: one for each unit
    bool matrix_is_vector = false;       // the matrix units and the vector unit are one
    bool memory_is_shared = false;       // the first-level cache and shared memory are one unit
    bool multiply_add_is_vector = true;  // multiply-adds and other vector instructions have one unit
};

/// The architecture of a device, by its name, or that of this name; null if there is no row.
const Architecture* find_architecture(std::string_view device);
std::string architecture_names();  // "RDNA2, RDNA3"

struct Bound {
    double cycles = 0;      // of one turn of the loop
    double peak_part = 0;   // of the rate of the instructions that multiply, if nothing else took time
    const char* unit = "";  // that binds
};

/// For subgroups of so many invocations. nullopt if nothing multiplies, or if the rate of a matrix instruction is not
/// in the table.
std::optional<Bound> bound_of(const std::vector<Instruction>& loop, const Architecture&, uint32_t subgroup_size);

/// The size of a pipeline's subgroups: as the text shows it, as the tile asks for it ("...,SG=32,..."), or `otherwise`.
uint32_t subgroup_size_of(const Program&, std::string_view tile, uint32_t otherwise);

}  // namespace vkgemm::tool
