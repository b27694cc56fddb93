// SPDX-License-Identifier: MIT
// The table of kernels. A row is a pipeline that may be chosen: the chooser, the tests, the bench and the docs walk it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "plan/device/device_caps.h"
#include "plan/families/family.h"

namespace vkgemm::plan {

/// One SPIR-V module of shaders/modules.def, in its two variants.
struct Module {
    std::string_view name;
    const Family& family;
    Type a, b, d, accumulate;
    std::span<const uint32_t> packed;  // both variants, for spirv::unpack(); empty: this build does not have them
    const char* why_missing;           // why it does not; null if it does

    bool built() const { return !packed.empty(); }
    constexpr ElementBytes element_bytes() const {
        return {info(a).bytes, info(b).bytes, info(d).bytes, info(accumulate).bytes};
    }
};

struct Kernel {
    std::string_view name;
    const Module& module;
    FeatureSet needs;  // all of them: the row's own and those of its types
    Tile tile;
};

std::span<const Kernel> kernels();
const Kernel* find_kernel(std::string_view name);  // null: no such row
/// A sentence that names the nearest row, or the nearest of `others` that could stand there, too.
std::string unknown_kernel(std::string_view name, std::vector<std::string_view> others = {});

}  // namespace vkgemm::plan
