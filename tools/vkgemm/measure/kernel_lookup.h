// SPDX-License-Identifier: MIT
// The built-in kernels with their tiles as numbers, by name and by family, and problems that suit them. Pure.
#pragma once
#include "measure/cases.h"

namespace vkgemm::tool {

/// The constants of a tile that the tool reasons about; 0 if the kernel does not use it. Their meaning:
/// vkgemmGetTileConstant.
struct Tile {
    uint32_t WG = 0, BM = 0, BN = 0, BK = 0, WM = 0, WN = 0, TM = 0, TN = 0, MM = 0, MN = 0, MK = 0;
};

/// One row of the library's table.
struct Kernel {
    uint32_t index = 0;  // as vkgemmGetKernel takes it
    VkgemmKernelInfo info{};
    VkgemmKernelTraits traits{};
    Tile tile;

    std::string name() const { return info.name; }
    std::string family() const { return info.family; }
    std::string variant() const {  // "simt", "gemv_blocks::mxint8"
        return *info.variant ? family() + "::" + info.variant : family();
    }
    bool is_mixed() const { return info.a == VKGEMM_TYPE_DEFAULT; }  // takes any types that differ, and block formats
    bool is_product() const { return traits.role == VKGEMM_KERNEL_PRODUCT; }
};
const std::vector<Kernel>& all_kernels();
const Kernel* find_kernel(std::string_view name);  // null: there is none
bool is_native(std::string_view kernel);           // machine code, not SPIR-V
std::string label_of(std::string_view kernel);     // its name, and "(native)" where it is machine code

/// The kernel's tile with those constants replaced; refused like vkgemmGetKernelTraits.
Result<Tile> tile_with(const Kernel& k, const std::string& constants);

/// A sentence that suggests the nearest name of a product, or of `others`.
std::string unknown_kernel(const std::string& name, std::vector<std::string> others = {});

/// "f16*f16+f32->f16"
std::string types_of(const Kernel& k);
/// Whether it multiplies what the problem's product is: for VKGEMM_ACCURACY_F64_SPLIT and _WIDE whole numbers.
bool has_types(const Kernel& k, const Problem& problem);

/// The kernels that a name means: one kernel, or all of a family or of one of its variants. With `c`, of a family only
/// those that have its types.
/// Refused if it names no product or none is left; `also` are the other words that the caller takes.
Result<std::vector<const Kernel*>> find_kernels(const std::string& name, const Case* c,
                                                std::vector<std::string> also = {});

/// The text of kernelProblem().
std::string problem_for(const Kernel& k, const Problem& like);

/// Bytes of workspace for a kernel if nothing else is stated: 0, unless it cannot run without.
uint64_t workspace_for(const Kernel& k);

/// Problems at the edges of the tile: whole tiles, less than one, more than one, in all layouts.
std::vector<std::string> edge_problems(const Kernel& k);

}  // namespace vkgemm::tool
