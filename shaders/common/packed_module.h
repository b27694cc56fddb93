// SPDX-License-Identifier: MIT
// The SPIR-V of one row of modules.def, as CMakeLists.txt embeds it.
#pragma once
#include <cstddef>
#include <cstdint>

namespace vkgemm::spirv {

struct PackedModule {
    const uint32_t* words;    // its variants, for spirv::unpack()
    size_t count;             // of words; 0: this build does not have the module
    const char* why_missing;  // why it does not; null if it does
};

extern const PackedModule base;  // not a kernel: all others are packed after it (src/spirv)

}  // namespace vkgemm::spirv
