// SPDX-License-Identifier: MIT
#include <cstring>

#include "gpu.h"

namespace renderer {
namespace {

struct Shader {
    const char* name;
    std::span<const uint32_t> f32, f16;
};
#include "shader_table.inc"  // written by CMake: the array `shaders`, with the SPIR-V of each

}  // namespace

std::span<const uint32_t> shader(const char* name, bool f16) {
    for (const Shader& s : shaders)
        if (std::strcmp(s.name, name) == 0) return f16 ? s.f16 : s.f32;
    fail(std::string("there is no shader ") + name);
}

}  // namespace renderer
