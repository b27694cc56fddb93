// SPDX-License-Identifier: MIT
// Modules of shaders/ built once more with VKGEMM_TRACE (shaders/trace.glsl).
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace vkgemm::tool {

struct TracedModule {
    std::string_view name;                    // as in its row
    std::span<const uint32_t> plain, scoped;  // scoped: where the Vulkan memory model is enabled
};
/// Those that can be traced: all products. Empty in a build without a shader compiler or with VKGEMM_COVER=OFF.
std::vector<TracedModule> traced_modules();

}  // namespace vkgemm::tool
