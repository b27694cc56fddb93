// SPDX-License-Identifier: MIT
// Every row with its own tile: with and without edges, with and without transposed operands, and with the same bits
// every time.
#include <doctest/doctest.h>

#include <set>

#include "kernels/tally.h"
#include "support/reference.h"

using namespace vkgemm::test;
using vkgemm::columnMajor;
using vkgemm::plan::Kernel;
using vkgemm::plan::Layout;

TEST_CASE("lavapipe has a row of every family" * doctest::test_suite("families")) {
    if (!device().info().name.starts_with("llvmpipe")) return;
    std::set<std::string> none, some;
    for (const Kernel& kernel : vkgemm::plan::kernels())
        if (!kernel.module.is_native())  // machine code for another device
            (fits(kernel) || !kernel.module.is_product() ? some : none).insert(variant_of(kernel.module));
    none.erase("bf16x3");  // of bf16 matrix units, which it has not
    for (const std::string& family : none) CHECK_MESSAGE(some.count(family) == 1, family);
}

TEST_SUITE_BEGIN("rows");

TEST_CASE("each row: edges everywhere, and the same bits run after run") {
    std::set<std::string_view> walked, with_own_tile;
    for_each_row([&](const Kernel& kernel, Tally& tally) {
        walked.insert(kernel.name);
        Case x = odd_case(kernel);
        if (tally(x) && tally.twisted(x).tile.find("BM=") == std::string::npos) with_own_tile.insert(kernel.name);
        if (!has_turn(kernel)) return;
        x.fill = Fill::random;
        x = tally.twisted(x);
        if (!tally(x)) return;
        const std::vector<double> first = result(x);
        for (int i = 0; i < 3; ++i) CHECK_MESSAGE(result(x) == first, to_text(x));
    });
    if (is_quick()) return;
    for (const Kernel& kernel : vkgemm::plan::kernels())  // the other cases give matrix units smaller tiles
        if (is_chosen(kernel) && (all_have_turns() || walked.contains(kernel.name)) &&
            kernel.module.family.uses_matrix_units && kernel.module.is_product() && !kernel.module.is_mixed() &&
            fits(kernel))
            CHECK_MESSAGE(with_own_tile.count(kernel.name) == 1, kernel.name, " never ran with its own tile");
}

TEST_CASE("each tile: whole tiles") {
    for_each_tile([](const Kernel& kernel, Tally& tally) {
        Case x = whole_case(kernel);
        tally(x);
        x.fill = Fill::random;
        x.problem.k *= 2;
        x.problem.batch = 2;
        x.problem.epilogue = {{VKGEMM_STEP_RESIDUAL}, {VKGEMM_STEP_RELU}};
        tally(x);
    });
}

TEST_CASE("each tile: column-major, misaligned, scaled and added to") {
    for_each_tile([](const Kernel& kernel, Tally& tally) {
        Case x = odd_case(kernel);
        x.problem.a.layout = x.problem.b.layout = columnMajor;
        x.problem.cSource = VKGEMM_C_SEPARATE;
        x.problem.epilogue = {{VKGEMM_STEP_BIAS_ROW}};
        x.alpha = -2;
        x.beta = 3;
        x.shift = 1;
        tally(x);
    });
}

TEST_CASE("NaN and infinity propagate") {
    for_each_kernel([](const Kernel& kernel, Tally& tally) {
        for (uint64_t seed = 1; seed <= 3; ++seed) {
            Case x = odd_case(kernel);
            x.fill = Fill::special;
            x.seed = seed;
            if (seed == 2) x.problem.epilogue = {{VKGEMM_STEP_RELU}};  // NaN stays NaN
            if (seed == 3 && kernel.module.accumulate != vkgemm::plan::f16 &&
                vkgemm::plan::info(kernel.module.accumulate).is_float)
                x.problem.epilogue = {{VKGEMM_STEP_CLAMP, -2, 2}};
            tally(x);
        }
    });
}

TEST_CASE("NaN and infinity in the first and in the last k, of K and of its slices") {
    for_each_kernel([](const Kernel& kernel, Tally& tally) {
        if (!vkgemm::plan::info(kernel.module.accumulate).is_float) return tally.none();
        const auto at = [&](Case x, uint64_t k, uint64_t seed) {
            x.fill = Fill::placed;
            for (const unsigned special : {0u, 1 + static_cast<unsigned>(seed / 2 % 2)}) {
                x.seed = placed_seed(k, seed % 2 != 0, special);
                tally(x);
            }
        };
        const uint64_t step = std::max(kernel.tile.BK, 4u), slice = 3 * step;
        uint64_t seed = 0;
        for (const unsigned layouts : {0u, 1u, 2u, 3u}) {
            const auto with_layouts = [&](Case x) {
                if (layouts & 1) x.problem.a.layout = columnMajor;
                if (layouts & 2) x.problem.b.layout = columnMajor;
                return x;
            };
            Case whole = with_layouts(whole_case(kernel)), odd = with_layouts(odd_case(kernel));
            for (const uint64_t depth : {step, slice}) {  // fewer than a step of gemv takes, and no multiple of it
                whole.problem.k = depth;
                at(whole, 0, ++seed);
                at(whole, depth - 1, ++seed);
            }
            at(odd, 0, ++seed);
            at(odd, widened(odd).problem.k - 1, ++seed);
            if (kernel.module.accumulate == vkgemm::plan::f16) continue;  // whose slices no kernel adds up
            whole.problem.k = 2 * slice;
            whole.tile = "SPLIT=2";
            for (const uint64_t k : {uint64_t{0}, slice - 1, slice, 2 * slice - 1}) at(whole, k, ++seed);
        }
    });
}

TEST_CASE("K of half a tile, in families of one step: an infinity in the last k, of A and of B, stays one") {
    for_each_tile([](const Kernel& kernel, Tally& tally) {
        if (!kernel.module.family.in_one_step) return tally.none();
        for (const bool in_b : {false, true})
            for (const Layout a : {vkgemm::rowMajor, columnMajor})
                for (const Layout b : {vkgemm::rowMajor, columnMajor}) {
                    Case x = case_for(kernel, kernel.tile.BM + 3, kernel.tile.BN, kernel.tile.BK / 2);
                    x.problem.a.layout = a;
                    x.problem.b.layout = b;
                    x.fill = Fill::placed;
                    x.seed = placed_seed(widened(x).problem.k - 1, in_b, 1);
                    tally(x);
                }
    });
}

TEST_CASE("gemv: an infinity in the last k of a whole product stays one") {
    Tally tally("gemv");
    using Named = std::pair<const char*, const char*>;
    for (const Named& named : {Named{"gemv_f32_1x8", "f32*f32 1x8x32"},
                               {"gemv_f32_8x1", "f32*f32 8x1x32 layout=tn"},
                               {"gemv_f16_8x16", "f16*f16 16x16x256"},
                               {"gemv_bf16_8x16", "bf16*bf16 16x16x256"},
                               {"gemv_f16_16x8", "f16*f16 16x16x256 layout=tn"},
                               {"gemv_f32_1x64", "f32*f32 1x64x11008"}}) {
        const char* const kernel = named.first;
        const Kernel* row = vkgemm::plan::find_kernel(kernel);
        REQUIRE_MESSAGE(row, kernel);
        Case x = case_of(kernel, named.second);
        if (!fits(*row)) continue;
        x.fill = Fill::placed;
        for (unsigned special = 0; special < 6; ++special) {
            x.seed = placed_seed(x.problem.k - 1, special >= 3, special % 3);
            tally(x);
        }
    }
    tally.none();
}

TEST_CASE("gemv: an infinity in the last k stays one if K ends within 16 bytes that a packer filled up with zeros") {
    using Named = std::pair<const char*, const char*>;
    for (const Named& named : {Named{"gemv_f32_16x1", "f32*f32 106x4x9"},
                               {"gemv_f32_16x1", "f32*f32 106x4x10 packed_a=any"},
                               {"gemv_f32_1x16", "f32*f32 4x106x11 layout=tt"},
                               {"gemv_f32_1x16", "f32*f32 8x106x9 layout=tt packed_a=any packed_b=any"},
                               {"gemv_f16_1x16", "f16*f16 106x4x9 layout_d=t"},
                               {"gemv_bf16_16x1", "bf16*bf16 106x8x15"},
                               {"gemv_f64_16x1", "f64*f64 106x4x9"}}) {
        const Kernel* const row = vkgemm::plan::find_kernel(named.first);
        REQUIRE_MESSAGE(row, named.first);
        if (!is_chosen(*row) || !fits(*row)) continue;
        Case x = case_of(named.first, named.second);
        x.fill = Fill::placed;
        for (const bool in_b : {false, true}) {
            x.seed = placed_seed(x.problem.k - 1, in_b, 1);
            CHECK(run(x) == "");
        }
    }
}

TEST_CASE("f64: factors and numbers that f32 does not hold, and the curves of the epilogue") {
    for_each_row([](const Kernel& kernel, Tally& tally) {
        if (kernel.module.accumulate != vkgemm::plan::f64) return tally.none();
        Case x = odd_case(kernel);
        x.problem.cSource = VKGEMM_C_IS_D;
        x.alpha = 1 + 0x1p-28;
        x.beta = 1 - 0x1p-28;
        tally(x);
        x = odd_case(kernel);
        x.fill = Fill::random;
        for (const double alpha : {1.0, -1.0, 30.0, 1e-200, 1e300})
            for (const auto& step : vkgemm::plan::step_info) {
                if (!is_curve(step.kind)) continue;
                x.alpha = alpha;
                x.problem.epilogue = {{step.kind}};
                tally(x);
            }
    });
}

TEST_CASE("f32: every digit counts; NaN and infinities, in every row") {
    for_each_row([](const Kernel& kernel, Tally& tally) {
        if (kernel.module.a != vkgemm::plan::f32 || kernel.module.d != vkgemm::plan::f32) return tally.none();
        for (uint64_t seed = 1; seed <= 2; ++seed) {
            Case x = odd_case(kernel);
            x.fill = Fill::digits;
            x.seed = seed;
            tally(x);
            x.fill = Fill::special;
            tally(x);
        }
    });
}

TEST_CASE("f32: exponents from 2^-120 to 2^120 in one row; products near the greatest number") {
    for_each_row([](const Kernel& kernel, Tally& tally) {
        if (kernel.module.a != vkgemm::plan::f32 || kernel.module.d != vkgemm::plan::f32) return tally.none();
        Case x = odd_case(kernel);
        x.fill = Fill::wide;
        x.problem.k = std::max<uint64_t>(x.problem.k, 500);
        tally(x);
        x.fill = Fill::great;  // parts may be kept larger than they are; their products must not leave f32's range
        tally(x);
    });
}

TEST_SUITE_END();
