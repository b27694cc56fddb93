// SPDX-License-Identifier: MIT
// Pairs: D from two products, by B and by B2, in every family that computes them.
#include <doctest/doctest.h>

#include "kernels/tally.h"

using namespace vkgemm::test;
using vkgemm::columnMajor;
using vkgemm::plan::Kernel;
using vkgemm::plan::Problem;

namespace {

bool sums_floats(const Kernel& kernel) { return vkgemm::plan::info(kernel.module.accumulate).is_float; }

/// Calls `each` for the products that compute pairs.
template <class Each>
void for_each_pair(Each&& each) {
    for_each_product([&](const Kernel& kernel, Tally& tally) {
        tally.none();
        if (kernel.module.family.takes_pairs && kernel.module.d != vkgemm::plan::scaled) each(kernel, tally);
    });
}

}  // namespace

TEST_SUITE_BEGIN("pairs");

TEST_CASE("pairs: whole numbers, with and without biases, in every layout of A and B") {
    for_each_pair([](const Kernel& kernel, Tally& tally) {
        uint64_t seed = 0;
        for (const VkgemmStepKind bias : {VKGEMM_STEP_BIAS_COL, VKGEMM_STEP_BIAS_ROW, VKGEMM_STEP_NONE})
            for (const unsigned layouts :
                 {bias == VKGEMM_STEP_BIAS_ROW ? 1u : 0u, bias == VKGEMM_STEP_NONE ? 3u : 2u}) {
                Case x = odd_case(kernel);
                Problem& p = x.problem;
                if (bias != VKGEMM_STEP_NONE) p.epilogue.add({bias});
                p.epilogue.add({VKGEMM_STEP_PAIR_RELU});
                if (layouts & 1) p.a.layout = columnMajor;
                if (layouts & 2) p.b.layout = columnMajor;
                x.alpha = bias == VKGEMM_STEP_BIAS_ROW ? -1 : 1;
                x.addresses = ++seed % 3 == 1;
                x.seed = seed;
                tally(x);
            }
    });
}

TEST_CASE("pairs: steps after them, a D that is wide, batches, shared matrices, operands that begin anywhere") {
    for_each_pair([](const Kernel& kernel, Tally& tally) {
        Case x = odd_case(kernel);
        x.problem.epilogue = {{VKGEMM_STEP_BIAS_COL}, {VKGEMM_STEP_PAIR_RELU}, {VKGEMM_STEP_SCALE_COL}};
        x.problem.batch = 3;
        tally(x);
        x.problem.a.batchStride = VKGEMM_BROADCAST;
        x.problem.outerBatch = 2;
        tally(x);
        x.problem.batch = 4;
        x.problem.ratioB = 2;
        x.problem.a.batchStride = 0;
        tally(x);
        x = case_for(kernel, x.problem.m, x.problem.n / 16 * 16 + 16, 4 * x.problem.k);
        x.problem.epilogue = {{VKGEMM_STEP_PAIR_RELU}, {VKGEMM_STEP_RELU}};
        x.problem.b.batchStride = VKGEMM_BROADCAST;
        x.problem.batch = 2;
        x.shift = wants_alignment(kernel) ? 0 : 1;
        tally(x);
        x.problem.k = 0;
        x.problem.epilogue = {{VKGEMM_STEP_BIAS_COL}, {VKGEMM_STEP_PAIR_RELU}};
        tally(x);
    });
}

TEST_CASE("pairs: NaN and infinities, anywhere and at both ends of k; an alpha of 0") {
    for_each_pair([](const Kernel& kernel, Tally& tally) {
        if (!sums_floats(kernel)) return;
        Case x = odd_case(kernel);
        x.problem.epilogue = {{VKGEMM_STEP_BIAS_COL}, {VKGEMM_STEP_PAIR_RELU}};
        x.fill = Fill::special;
        tally(x);
        x.fill = Fill::placed;
        for (const uint64_t k : {uint64_t{0}, x.problem.k - 1})
            for (unsigned special = 0; special < 3; ++special) {
                x.seed = placed_seed(k, true, special);
                tally(x);
            }
        x.fill = Fill::exact;
        x.alpha = 0;
        tally(x);
    });
}

TEST_CASE("pairs: GELU and SiLU") {
    for_each_pair([](const Kernel& kernel, Tally& tally) {
        if (!sums_floats(kernel)) return;
        for (const VkgemmStepKind pair : {VKGEMM_STEP_PAIR_GELU, VKGEMM_STEP_PAIR_SILU}) {
            Case x = odd_case(kernel);
            x.problem.epilogue = {{VKGEMM_STEP_BIAS_COL}, {pair}};
            x.fill = Fill::random;
            tally(x);
        }
    });
}

TEST_CASE("pairs: sizes and strides that vary") {
    for_each_pair([](const Kernel& kernel, Tally& tally) {
        Case x = odd_case(kernel);
        Problem& p = x.problem;
        p.epilogue = {{VKGEMM_STEP_BIAS_COL}, {VKGEMM_STEP_PAIR_RELU}};
        p.upTo = VKGEMM_UP_TO_M;
        x.sizes = vkgemm::plan::Sizes{.m = p.m, .n = p.n, .k = p.k, .batch = 1};
        tally(x);
        x.sizes->m = p.m / 2 + 1;
        tally(x);
        x.sizes->m = 0;
        tally(x);
    });
}

TEST_CASE("pairs: the second of two products, whose gate is a residual, is the same") {
    // The last one has so many rows that it is two products where there is a workspace.
    const char* const lines[] = {"5x7x9 bias=col", "f16*f16+f32->f16 1x24x32 layout=nt", "f32*q4_0 1x24x64 layout=nt",
                                 "70x48x32 batch=2 bias=row"};
    for (const std::string line : lines) {
        if (line.starts_with("f16") && !fits(*vkgemm::plan::find_kernel("tiled_f16_16x16"))) {
            MESSAGE("the device has no f16: ", line);
            continue;
        }
        for (const Fill fill : {Fill::exact, Fill::special}) {
            Case x = case_of("", line + " pair=relu");
            x.fill = fill;
            CHECK(run(x) == "");
            x = case_of("", line + " gate=relu");
            x.fill = fill;
            CHECK(run(x) == "");
            x.alias = Alias::residual;
            CHECK(run(x) == "");
        }
        Case x = case_of("", line + " pair=silu scale=all act=relu");
        x.fill = Fill::random;
        CHECK(run(x) == "");
    }
}

TEST_SUITE_END();
