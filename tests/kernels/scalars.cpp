// SPDX-License-Identifier: MIT
// alpha, beta and bounds in memory, and what a run notes of D.
#include <doctest/doctest.h>

#include "kernels/tally.h"

using namespace vkgemm::test;
using vkgemm::plan::Kernel;
using vkgemm::plan::Problem;

namespace {

constexpr uint32_t all_scalars =
    VKGEMM_SCALARS_ALPHA | VKGEMM_SCALARS_BETA | VKGEMM_SCALARS_CLAMP | VKGEMM_SCALARS_MONITOR | VKGEMM_SCALARS_LARGEST;

bool has_scalars(const Kernel& kernel) {
    const auto sums = kernel.module.accumulate;
    return kernel.module.d == vkgemm::plan::scaled || (vkgemm::plan::info(sums).is_float && sums != vkgemm::plan::f64);
}

/// A case with all of them.
Case with_scalars(Case x) {
    Problem& p = x.problem;
    p.cSource = VKGEMM_C_IS_D;
    p.epilogue = {{VKGEMM_STEP_CLAMP, -20, 30}};
    p.scalars = all_scalars;
    x.alpha = -2;
    x.beta = 3;
    return x;
}

}  // namespace

TEST_SUITE_BEGIN("scalars");

TEST_CASE("scalars in memory, and what is noted of D") {
    for_each_kernel([](const Kernel& kernel, Tally& tally) {
        tally.none();
        if (!has_scalars(kernel)) return;
        for (const bool whole : {false, true}) {
            Case x = with_scalars(whole ? whole_case(kernel) : odd_case(kernel));
            tally(x);
            x.addresses = true;
            x.problem.batch = 2;
            if (kernel.module.accumulate != vkgemm::plan::f16)
                x.tile = "SPLIT=2";  // the last pass reads and notes them
            tally(x);
            x.problem.epilogue = {};
            x.problem.scalars = all_scalars & ~uint32_t{VKGEMM_SCALARS_CLAMP};
            x.fill = Fill::special;
            tally(x);
        }
    });
}

TEST_CASE("each scalar in memory alone, the others from the run") {
    for_each_product([](const Kernel& kernel, Tally& tally) {
        tally.none();
        if (!has_scalars(kernel)) return;
        for (const uint32_t bit :
             {VKGEMM_SCALARS_ALPHA, VKGEMM_SCALARS_BETA, VKGEMM_SCALARS_MONITOR, VKGEMM_SCALARS_LARGEST}) {
            Case x = odd_case(kernel);
            x.problem.cSource = VKGEMM_C_SEPARATE;
            x.problem.scalars = bit;
            x.alpha = 0.5;
            x.beta = -1;
            tally(x);
        }
    });
}

TEST_CASE("alpha and beta of 0 in memory: neither NaN in A and B nor NaN in C reaches D") {
    for_each_kernel([](const Kernel& kernel, Tally& tally) {
        tally.none();
        if (!has_scalars(kernel)) return;
        for (const auto& [alpha, beta] : {std::pair{0, 2}, {2, 0}, {0, 0}}) {  // what is not used stays poison
            for (const VkgemmC source : {VKGEMM_C_IS_D, VKGEMM_C_SEPARATE}) {
                Case x = with_scalars(odd_case(kernel));
                x.problem.cSource = source;
                x.alpha = alpha;
                x.beta = beta;
                tally(x);
            }
        }
    });
}
