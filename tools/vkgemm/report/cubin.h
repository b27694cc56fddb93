// SPDX-License-Identifier: MIT
// What a cubin, NVIDIA's machine code in an ELF file, states of its functions. The format is not documented: the
// sections and attributes are those that give the figures of cuobjdump --dump-resource-usage. Pure.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "vkgemm/vkgemm.hpp"

namespace vkgemm::tool {

/// One entry point.
struct CubinFunction {
    std::string name;
    uint32_t registers = 0;  // of a thread when it starts: setmaxnreg may change them later
    uint64_t local = 0;      // bytes of a thread's memory for spills and arrays without registers
    uint64_t shared = 0;     // static bytes of a block, with what the driver reserves; a launch may add to them
    uint64_t code = 0;       // bytes

    friend bool operator==(const CubinFunction&, const CubinFunction&) = default;
};

/// The functions in the order of the file. PARSE if `cubin` is none or is damaged: nothing outside it is read.
Result<std::vector<CubinFunction>> read_cubin(std::span<const uint8_t> cubin);

}  // namespace vkgemm::tool
