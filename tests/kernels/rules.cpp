// SPDX-License-Identifier: MIT
// Every rule of the problem, on every kernel: layouts, C, factors, batches, padding, offsets, epilogue, empty sums.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>

#include "kernels/tally.h"
#include "plan/problem/problem_text.h"
#include "support/files.h"
#include "support/reference.h"

using namespace vkgemm::test;
using vkgemm::columnMajor;
using vkgemm::rowMajor;
using vkgemm::plan::EpilogueStep;
using vkgemm::plan::Kernel;
using vkgemm::plan::Layout;

namespace {

bool floats(const Kernel& kernel) { return vkgemm::plan::info(kernel.module.accumulate).is_float; }

struct Factors {
    double alpha, beta;
};
/// Among them those that must keep the kernel from reading A and B, or C: what must not be read is poison.
constexpr Factors all_factors[] = {{1, 0}, {1, 1}, {0, 2}, {-2, 0.5}, {0, 0}, {0.5, -1}, {4, 0}};

Case with_factors(Case x, size_t i, bool is_float) {
    const Factors f = all_factors[i % std::size(all_factors)];
    x.alpha = is_float ? f.alpha : std::trunc(f.alpha);
    x.beta = is_float ? f.beta : std::trunc(2 * f.beta);
    return x;
}

bool wants_floats(const vkgemm::plan::Problem& p) {
    bool any = false;
    for (const EpilogueStep& step : p.epilogue)
        any |= vkgemm::plan::info(step.kind).sums == vkgemm::plan::StepSums::FLOATS;
    return any;
}

Case with_steps(Case x, const std::vector<EpilogueStep>& steps) {
    for (size_t i = 0; i < steps.size(); ++i) {
        x.problem.epilogue.add(steps[i]);
        if (is_curve(steps[i].kind)) x.fill = Fill::random;
    }
    return x;
}

/// Every layout of D, A and B of a case, and of C where it is a matrix of its own.
template <class Each>
void for_each_layout(const Case& x, Each&& each) {
    for (unsigned bits = 0; bits < (x.problem.cSource == VKGEMM_C_SEPARATE ? 16u : 8u); ++bits) {
        const auto layout = [&](unsigned bit) { return bits >> bit & 1 ? columnMajor : rowMajor; };
        Case y = x;
        y.problem.d.layout = layout(0);
        y.problem.a.layout = layout(1);
        y.problem.b.layout = layout(2);
        if (x.problem.cSource == VKGEMM_C_SEPARATE) y.problem.c.layout = layout(3);
        each(y);
    }
}

}  // namespace

TEST_SUITE_BEGIN("rows");

TEST_CASE("rules: every layout of A, B, C and D, every source of C, every kind of factor") {
    for_each_kernel([](const Kernel& kernel, Tally& tally) {
        size_t i = 0;
        for (const VkgemmC source : {VKGEMM_C_NONE, VKGEMM_C_IS_D, VKGEMM_C_SEPARATE}) {
            Case x = odd_case(kernel);
            x.problem.cSource = source;
            for_each_layout(x, [&](Case y) {
                y = with_factors(y, i, floats(kernel));
                if (source == VKGEMM_C_NONE) y.beta = 0;
                y.seed = ++i;
                tally(y);
            });
        }
    });
}

TEST_CASE("rules: every layout of whole tiles, and of rows of whole 16 bytes") {
    for_each_kernel([](const Kernel& kernel, Tally& tally) {
        Case wide = odd_case(kernel);
        for (uint64_t* size : {&wide.problem.m, &wide.problem.n, &wide.problem.k}) *size = (*size + 15) / 16 * 16;
        uint64_t seed = 0;
        for (Case x : {whole_case(kernel), wide}) {
            x.problem.cSource = VKGEMM_C_IS_D;
            x.beta = 1;
            x.problem.batch = 2;
            for_each_layout(x, [&](Case y) {
                y.seed = ++seed;
                tally(y);
            });
        }
    });
}

TEST_CASE("rules: factors, with poison where nothing may be read") {
    for_each_kernel([](const Kernel& kernel, Tally& tally) {
        for (size_t i = 0; i < std::size(all_factors); ++i)
            for (const VkgemmC source : {VKGEMM_C_IS_D, VKGEMM_C_SEPARATE}) {
                Case x = with_factors(odd_case(kernel), i, floats(kernel));
                x.problem.cSource = source;
                x.seed = i;
                tally(x);
            }
    });
}

TEST_CASE("rules: batches, strides, broadcasts and padding") {
    for_each_kernel([](const Kernel& kernel, Tally& tally) {
        for (size_t i = 0; i < 8; ++i) {
            Case x = odd_case(kernel);
            auto& p = x.problem;
            const uint64_t step = grain(kernel);
            p.batch = 2 + i % 3;
            p.a.ld = p.k + i * step;
            p.b.ld = p.n + 3 * (i % 3) * step;
            p.d.ld = p.n + i % 4;
            if (i & 1) p.a.batchStride = vkgemm::plan::broadcast;
            if (i & 2) p.b.batchStride = vkgemm::plan::broadcast;
            if (i & 4) {
                p.d.batchStride = p.d.ld * p.m + 13;
                p.a.batchStride = p.a.ld * p.m + 7 * step;
            }
            if (i % 3 == 1) {
                p.cSource = VKGEMM_C_IS_D;
                x.beta = 1;
            }
            if (i % 3 == 2) {
                p.cSource = VKGEMM_C_SEPARATE;
                p.c.batchStride = vkgemm::plan::broadcast;
                p.c.ld = p.n + 1;
                x.beta = 2;
            }
            x.seed = i;
            tally(x);
        }
        for (const Layout layout : {rowMajor, columnMajor}) {  // D's matrices side by side
            Case x = odd_case(kernel);
            auto& p = x.problem;
            p.batch = 3;
            p.cSource = VKGEMM_C_IS_D;
            x.beta = 1;
            p.d.layout = layout;
            p.d.batchStride = layout == rowMajor ? p.n : p.m;
            p.d.ld = 3 * p.d.batchStride + 2;
            tally(x);
        }
    });
}

TEST_CASE("rules: operands that begin anywhere, as buffers and as addresses") {
    for_each_kernel([](const Kernel& kernel, Tally& tally) {
        for (uint32_t shift = 0; shift < 5; ++shift)
            for (const bool addresses : {false, true}) {
                if (addresses && !device().hasAddresses()) continue;
                Case x = odd_case(kernel);
                if (shift % 2 == 0) {
                    x.problem.k = 4 * x.problem.k;
                    x.problem.n = x.problem.n / 4 * 4;  // rows of whole 16 bytes
                }
                x.shift = shift;
                x.addresses = addresses;
                x.seed = shift;
                if (shift == 3) {
                    x.problem.cSource = VKGEMM_C_SEPARATE;
                    x.beta = 1;
                }
                tally(x);
            }
    });
}

TEST_CASE("rules: each step of the epilogue, and steps in order") {
    std::vector<std::vector<EpilogueStep>> lists = {
        {{VKGEMM_STEP_BIAS_ROW, 0, 0}, {VKGEMM_STEP_CLAMP_COL, 0, 0}, {VKGEMM_STEP_CLAMP, -3, 9}},
        {{VKGEMM_STEP_BIAS_COL, 0, 0},
         {VKGEMM_STEP_SCALE_ROW, 0, 0},
         {VKGEMM_STEP_RESIDUAL, 0, 0},
         {VKGEMM_STEP_RELU, 0, 0}},
        {{VKGEMM_STEP_SCALE_COL, 0, 0}, {VKGEMM_STEP_DRELU, 0, 0}, {VKGEMM_STEP_BIAS_COL, 0, 0}},
        {{VKGEMM_STEP_RELU, 0, 0},
         {VKGEMM_STEP_RESIDUAL, 0, 0},
         {VKGEMM_STEP_SCALE_ALL, 0, 0},
         {VKGEMM_STEP_BIAS_ROW, 0, 0}},
        {{VKGEMM_STEP_SCALE_COL, 0, 0},
         {VKGEMM_STEP_CLAMP, -3, 3},
         {VKGEMM_STEP_BIAS_ROW, 0, 0},
         {VKGEMM_STEP_GELU, 0, 0}},
        {{VKGEMM_STEP_BIAS_COL, 0, 0},
         {VKGEMM_STEP_SCALE_ROW, 0, 0},
         {VKGEMM_STEP_RELU, 0, 0},
         {VKGEMM_STEP_RESIDUAL, 0, 0}},
    };
    for (const auto& step : vkgemm::plan::step_info) {
        const float low = step.has_bounds() ? -5 : step.has_slope() ? 0.5f : 0;
        lists.push_back(std::vector<EpilogueStep>{{step.kind, low, 7}});
    }
    for_each_kernel([&](const Kernel& kernel, Tally& tally) {
        for (size_t i = 0; i < lists.size(); ++i)
            for (const Layout layout : {rowMajor, columnMajor}) {
                Case x = with_steps(odd_case(kernel), lists[i]);
                if (!floats(kernel) && wants_floats(x.problem)) continue;
                if (vkgemm::plan::is_pair(x.problem) && !kernel.module.family.takes_pairs) continue;
                x.problem.d.layout = layout;
                x.problem.batch = 1 + i % 2;
                x.seed = i;
                if (i % 3 != 0) x.problem.d.ld = std::max(x.problem.m, x.problem.n) + 3;  // the residual's too
                if (i % 2) {
                    x.problem.cSource = VKGEMM_C_IS_D;
                    x.beta = 1;
                }
                if (vkgemm::plan::is_pair(x.problem)) {  // pairs.cpp has more of these
                    x.problem.d.layout = rowMajor;
                    x.problem.cSource = VKGEMM_C_NONE;
                    x.beta = 0;
                }
                tally(x);
            }
    });
}

TEST_CASE("rules: nothing to sum, nothing to write") {
    for_each_kernel([](const Kernel& kernel, Tally& tally) {
        for (const VkgemmC source : {VKGEMM_C_NONE, VKGEMM_C_IS_D, VKGEMM_C_SEPARATE}) {
            Case x = case_for(kernel, 5, 7, 0);
            x.problem.cSource = source;
            x.beta = source == VKGEMM_C_NONE ? 0 : 2;
            tally(x);
            if (floats(kernel)) x.alpha = std::numeric_limits<double>::infinity();  // of nothing, so it is nothing
            tally(x);
        }
        Case no_rows = case_for(kernel, 0, 7, 5), no_columns = case_for(kernel, 5, 0, 5);
        no_columns.problem.batch = 3;
        tally(no_rows);
        tally(no_columns);
    });
}

TEST_SUITE_END();

TEST_CASE("corners: the lines of tests/problems, with the kernel that the context chooses") {
    Tally tally("corners");
    for (const std::string& line : lines_of("problems/corners.txt")) {
        Case x = case_of("", line);
        for (const EpilogueStep& step : x.problem.epilogue)
            if (is_curve(step.kind)) x.fill = Fill::random;
        tally(x);
    }
}
