// SPDX-License-Identifier: MIT
// K cut into slices: the same product, bit for bit where whole numbers allow it, and the same bits run after run.
#include <doctest/doctest.h>

#include "kernels/tally.h"

using namespace vkgemm::test;
using vkgemm::plan::Kernel;
using vkgemm::plan::Type;

/// f16 sums are not cut: no kernel adds their slices up.
static bool cuts(const Kernel& kernel) { return kernel.module.accumulate != vkgemm::f16; }

TEST_CASE("split: rows of bare sums that are padded to whole vectors, every rest") {
    Tally tally("padded sums");
    for (const char* line : {"33x36x96", "33x37x96", "31x38x96 batch=2", "32x39x96 batch=3 ldd=41", "5x1x96"}) {
        Case x = case_of("simt_f32_32x32x16", line);
        x.tile = "SPLIT=3,WG=32,BN=32,BM=16";
        tally(x);
    }
}

TEST_SUITE_BEGIN("rows");

TEST_CASE("split: every kernel, slices that do and do not come out even") {
    for_each_product([](const Kernel& kernel, Tally& tally) {
        const uint64_t depth = std::max(kernel.tile.BK, 4u);
        for (const char* split : {"SPLIT=2", "SPLIT=3", "SPLIT=7"}) {
            Case x = case_for(kernel, kernel.tile.BM + 3, kernel.tile.BN + 5, 9 * depth + 3);
            x.tile = cuts(kernel) ? split : "SPLIT=1";
            tally(x);
            x.problem.batch = 2;
            x.problem.cSource = VKGEMM_C_IS_D;
            x.beta = 2;
            x.problem.epilogue = {{VKGEMM_STEP_BIAS_COL}};
            tally(x);
        }
    });
}

TEST_CASE("split: nothing is read where alpha is 0, layouts and addresses") {
    for_each_product([](const Kernel& kernel, Tally& tally) {
        Case x = case_for(kernel, kernel.tile.BM + 3, kernel.tile.BN + 5, 9 * std::max(kernel.tile.BK, 4u) + 3);
        x.tile = cuts(kernel) ? "SPLIT=4" : "SPLIT=1";
        x.alpha = 0;
        tally(x);
        x.alpha = 1;
        x.problem.d.layout = x.problem.a.layout = vkgemm::plan::columnMajor;
        tally(x);
        x.fill = Fill::random;
        tally(x);
    });
}

TEST_SUITE_END();
