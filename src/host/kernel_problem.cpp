// SPDX-License-Identifier: MIT
// Problems that a kernel can compute: what the self-test, 'vkgemm check' and 'vkgemm inspect' give to each.
#include <algorithm>
#include <string_view>

#include "vkgemm/explain.hpp"
#include "vkgemm/host.hpp"
#include "vkgemm/rounding.hpp"

namespace vkgemm::host {
namespace {

uint32_t constant(uint32_t kernel, std::string_view name) {
    if (const auto all = tileConstants(kernel))
        for (const VkgemmTileConstant& c : *all)
            if (c.name == name) return c.value;
    return 0;
}

/// Operands of mixed types: what the families that take them do not refuse (src/plan/families).
void fit_mixed(Problem& p, uint32_t kernel, std::string_view family) {
    const bool few = family.starts_with("gemv"), blocks_alone = few && family != "gemv_mixed";
    p.a.type = f16;
    // Staged by fours, q8_0 takes more than the 32 KiB of shared memory that many devices have.
    const bool staged = constant(kernel, "STAGES") > 1 && constant(kernel, "DEPTH") > 1;
    const Type blocks = staged ? VKGEMM_TYPE_Q4_0 : VKGEMM_TYPE_Q8_0;
    if (typeInfo(p.b.type).blockElements <= 1) p.b.type = blocks_alone ? blocks : f32;
    const uint32_t block = typeInfo(p.b.type).blockElements;
    if (few) p.a.layout = rowMajor;
    if (blocks_alone) p.d.layout = rowMajor;  // a column-major one swaps A and B
    if (few || block > 1) p.b.layout = columnMajor;
    const bool rows_of_8 = family == "coopmat_mixed";
    p.k = roundUp(p.k, std::max(blocks_alone ? 64u : few ? 32u : rows_of_8 ? 8u : 1u, block));
    if (!rows_of_8) return;
    if (p.a.layout == columnMajor) p.m = roundUp(p.m, 8);
    if (p.b.layout == rowMajor) p.n = roundUp(p.n, 8);
}

/// No more of K than the kernel keeps, and rows of A, B and D that are multiples of 16 bytes.
void fit_resident(Problem& p, uint32_t kernel) {
    p.k = roundUp((p.k - 1) % constant(kernel, "BK") + 1, 8), p.n = roundUp(p.n, 8);
    if (p.a.layout == columnMajor || p.d.layout == columnMajor) p.m = roundUp(p.m, 8);
}

}  // namespace

Problem problemFor(uint32_t kernel, Problem like) {
    auto k = convert::output<VkgemmKernelInfo>();
    if (vkgemmGetKernel(kernel, &k) < 0) return like;
    const std::string_view family = k.family;
    if (family.starts_with("gemv")) {
        const uint32_t rows = constant(kernel, "BM"), cols = constant(kernel, "BN");
        (rows <= cols ? like.m : like.n) = std::min(rows, cols);
    }
    if (k.a == VKGEMM_TYPE_DEFAULT)
        fit_mixed(like, kernel, family);
    else
        like.a.type = k.a, like.b.type = k.b;
    if (family == "coopmat_resident" && like.k > 0) fit_resident(like, kernel);
    if (family == "coopmat" && constant(kernel, "STAGES") == 0)  // reads 16 bytes along k straight from memory
        like.a.layout = rowMajor, like.b.layout = columnMajor, like.k = roundUp(like.k, 8);
    if (family.starts_with("wgmma") && constant(kernel, "BN") < 64)  // boxes of a row-major B have 64 columns
        like.b.layout = columnMajor, like.d.layout = rowMajor;       // a column-major D swaps A and B
    like.d.type = k.d == VKGEMM_TYPE_DEFAULT ? f16 : k.d;
    like.accumulate = k.accumulate;
    if (const auto traits = kernelTraits(kernel)) like.accuracy = traits->accuracy;
    return like;
}

}  // namespace vkgemm::host
