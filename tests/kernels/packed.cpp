// SPDX-License-Identifier: MIT
// Operands that were packed before the run give the same product.
#include <doctest/doctest.h>

#include <set>

#include "kernels/tally.h"

using namespace vkgemm::test;
using vkgemm::plan::Kernel;

TEST_SUITE_BEGIN("rows");

TEST_CASE("packed ahead: every kernel, A, B and both, ragged sizes, layouts, batches and epilogues") {
    for_each_product([](const Kernel& kernel, Tally& tally) {
        if (kernel.module.is_mixed()) return tally.none();  // they decode operands as they are
        const uint64_t depth = std::max(kernel.tile.BK, 4u);
        for (const uint32_t which : {1u, 2u, 3u}) {
            Case x = case_for(kernel, kernel.tile.BM + 3, kernel.tile.BN + 5, 2 * depth + 3);
            const auto offer = [&] {
                x.problem.packedA = which & 1 ? VKGEMM_PACKED_ANY : VKGEMM_PACKED_NONE;
                x.problem.packedB = which & 2 ? VKGEMM_PACKED_ANY : VKGEMM_PACKED_NONE;
                tally(x);
            };
            offer();
            x.problem.b.layout = vkgemm::plan::columnMajor;
            x.problem.batch = 3;
            x.problem.b.batchStride = vkgemm::plan::broadcast;
            x.problem.cSource = VKGEMM_C_IS_D;
            x.beta = 2;
            x.problem.epilogue = {{VKGEMM_STEP_BIAS_COL}, {VKGEMM_STEP_RELU}};
            offer();
            x.problem.a.layout = x.problem.d.layout = vkgemm::plan::columnMajor;
            x.problem.epilogue = {};
            x.addresses = !x.addresses;
            offer();
            x.fill = Fill::special;
            offer();
        }
    });
}

TEST_CASE("packed ahead: one layout for all ranges of sizes, whichever kernel each of them takes") {
    Case x = case_of("", "f16*f16 512x512x256 layout=nt packed_b=any upto=m");
    for (const uint32_t invocations : {0u, as_on_a_gpu}) {
        x.invocations = invocations;
        if (!is_planned(x)) continue;  // the device may lack f16
        for (const uint64_t m : {1u, 5u, 33u, 512u}) {
            x.sizes = vkgemm::plan::Sizes{.m = m, .n = 512, .k = 256, .batch = 1};
            CHECK(run(x) == "");
        }
    }
}

TEST_CASE("packed ahead: fragments of a batch, of a shared operand, and with the scales of rows") {
    std::set<std::string> families;
    for (const Kernel& kernel : vkgemm::plan::kernels()) {
        if (!kernel.module.is_product() || !kernel.module.family.packs_fragments || !is_chosen(kernel)) continue;
        if (!fits(kernel) || !families.insert(variant_of(kernel.module)).second) continue;
        for (const char* line : {"33x37x70 batch=3 packed_b=any", "33x37x70 batch=3 layout=tt stride_b=0 packed_b=any",
                                 "33x37x70 batch=3 layout_d=t stride_a=0 packed_a=any packed_b=any"}) {
            Case x = case_for(kernel, 33, 37, 70);
            const auto types = x.problem;
            x.problem = case_of("", line).problem;
            x.problem.a.type = types.a.type;
            x.problem.b.type = types.b.type;
            x.problem.d.type = types.d.type;
            x.problem.accumulate = types.accumulate;
            x.problem.accuracy = types.accuracy;
            if (!can_be_exact(x)) x.fill = Fill::random;
            CHECK(run(x) == "");
        }
    }
}

TEST_SUITE_END();
