// SPDX-License-Identifier: MIT
// Every row with its own tile: with edges and without, forwards and transposed, and the same answer every time.
#include <doctest/doctest.h>

#include <set>

#include "kernels/tally.h"

using namespace vkgemm::test;
using vkgemm::plan::Kernel;
using vkgemm::columnMajor;
using vkgemm::plan::Layout;

static std::vector<double> result(const Case& x) {
    const auto d = result_of(x);
    REQUIRE_MESSAGE(bool(d), to_text(x), ": ", d.status().text);
    return *d;
}

TEST_CASE("lavapipe has a row of every family") {
    if (!device().info().name.starts_with("llvmpipe")) return;
    std::set<std::string_view> none, some;
    for (const Kernel& kernel : vkgemm::plan::kernels())
        (fits(kernel) || !kernel.module.is_product() ? some : none)
            .insert(kernel.module.family.name);
    none.erase("bf16x3");  // of bf16 matrix units, which it has not
    for (const std::string_view family : none) CHECK_MESSAGE(some.count(family) == 1, family);
}

TEST_SUITE_BEGIN("rows");

TEST_CASE("each row: edges everywhere, and the same bits run after run") {
    for_each_row([](const Kernel& kernel, Tally& tally) {
        Case x = odd_case(kernel);
        tally(x);
        x.fill = Fill::random;
        x = tally.twisted(x);
        if (!tally(x)) return;
        const std::vector<double> first = result(x);
        for (int i = 0; i < 3; ++i) CHECK_MESSAGE(result(x) == first, to_text(x));
    });
}

TEST_CASE("each tile: whole tiles") {
    for_each_tile([](const Kernel& kernel, Tally& tally) {
        Case x = whole_case(kernel);
        tally(x);
        x.fill = Fill::random, x.problem.k *= 2, x.problem.batch = 2;
        tally(x);
    });
}

TEST_CASE("each tile: column-major, misaligned, scaled and added to") {
    for_each_tile([](const Kernel& kernel, Tally& tally) {
        Case x = odd_case(kernel);
        x.problem.a.layout = x.problem.b.layout = columnMajor;
        x.problem.cSource = VKGEMM_C_SEPARATE;
        x.problem.epilogue = {{VKGEMM_STEP_BIAS_ROW}};
        x.alpha = -2, x.beta = 3, x.shift = 1;
        tally(x);
    });
}

TEST_CASE("NaN and infinity propagate") {
    for_each_kernel([](const Kernel& kernel, Tally& tally) {
        for (uint64_t seed = 1; seed <= 3; ++seed) {
            Case x = odd_case(kernel);
            x.fill = Fill::special, x.seed = seed;
            if (seed == 2) x.problem.epilogue = {{VKGEMM_STEP_RELU}};  // NaN stays NaN
            if (seed == 3 && kernel.module.accumulate == vkgemm::plan::f32)
                x.problem.epilogue = {{VKGEMM_STEP_CLAMP, -2, 2}};
            tally(x);
        }
    });
}

TEST_CASE("f32: every digit counts; NaN and infinities, in every row") {
    for_each_row([](const Kernel& kernel, Tally& tally) {
        if (kernel.module.a != vkgemm::plan::f32 || kernel.module.d != vkgemm::plan::f32)
            return tally.none();
        for (uint64_t seed = 1; seed <= 2; ++seed) {
            Case x = odd_case(kernel);
            x.fill = Fill::digits, x.seed = seed;
            tally(x);
            x.fill = Fill::special;
            tally(x);
        }
    });
}

TEST_CASE("f32: exponents from 2^-120 to 2^120 in one row; products near the greatest number") {
    for_each_row([](const Kernel& kernel, Tally& tally) {
        if (kernel.module.a != vkgemm::plan::f32 || kernel.module.d != vkgemm::plan::f32)
            return tally.none();
        Case x = odd_case(kernel);
        x.fill = Fill::wide;
        x.problem.k = std::max<uint64_t>(x.problem.k, 500);
        tally(x);
        x.fill = Fill::great;  // parts may be kept larger than they are; their products must not leave f32's range
        tally(x);
    });
}

TEST_SUITE_END();
