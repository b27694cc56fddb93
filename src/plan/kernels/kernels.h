// SPDX-License-Identifier: MIT
// The table of kernels. Each row is a pipeline that may be chosen. Selection, tests, benchmarks and docs read it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "plan/device/device_caps.h"
#include "plan/families/family.h"
#include "shaders/packed_module.h"

namespace vkgemm::plan {

/// What the kernels of a module do in a plan. Only products are chosen, the others are added to one. A packed product
/// reads A and B from the workspace, where a packer has put them; a product needs no other dispatch.
enum class Role : uint8_t { product, packed_product, packer, reducer };

/// One SPIR-V module of shaders/modules.def, in its two variants.
struct Module {
    std::string_view name;
    const Family& family;
    Role role;
    Type a, b, d, accumulate;
    const spirv::PackedModule& spirv;

    bool is_product() const { return role == Role::product || role == Role::packed_product; }
    bool built() const { return spirv.count != 0; }
    std::span<const uint32_t> packed() const { return {spirv.words, spirv.count}; }  // for spirv::unpack()
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
/// The sentence for a name that no row has. It suggests the nearest name of a row or of `others`.
std::string unknown_kernel(std::string_view name, std::vector<std::string_view> others = {});

}  // namespace vkgemm::plan
