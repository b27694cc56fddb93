// SPDX-License-Identifier: MIT
// Operands of the epilogue with types of their own, and scaled products of i8: every family, every step, every type.
#include <doctest/doctest.h>

#include <vector>

#include "kernels/tally.h"

using namespace vkgemm::test;
using vkgemm::columnMajor;
using vkgemm::plan::bf16;
using vkgemm::plan::f16;
using vkgemm::plan::f32;
using vkgemm::plan::f64;
using vkgemm::plan::i32;
using vkgemm::plan::i8;
using vkgemm::plan::Kernel;
using vkgemm::plan::Problem;
using vkgemm::plan::Type;

namespace {

/// The types that each kind of operand may have beside sums of this kernel, or none.
std::vector<Type> types_beside(const Kernel& kernel, bool matrix) {
    if (kernel.module.writes(i8) && matrix) return {f32, f16, bf16, i8};
    const bool floats = vkgemm::plan::info(kernel.module.accumulate).is_float && kernel.module.accumulate != f64;
    if (floats || kernel.module.d == vkgemm::plan::scaled) return {f32, f16, bf16};
    return {};
}

/// A step that reads an operand of this type, or no step and a C of it.
void give(Problem& p, VkgemmStepKind step, Type type) {
    switch (step) {
        case VKGEMM_STEP_NONE:
            p.cSource = VKGEMM_C_SEPARATE;
            p.c.type = type;
            return;
        case VKGEMM_STEP_RESIDUAL:
        case VKGEMM_STEP_DRELU:
        case VKGEMM_STEP_GATE_RELU:
            p.residualType = type;
            break;
        case VKGEMM_STEP_BIAS_ROW:
        case VKGEMM_STEP_BIAS_COL:
            p.biasType = type;
            break;
        default:
            p.scaleType = type;
    }
    p.epilogue.add({step});
}

bool reads_residual(VkgemmStepKind step) {
    return step != VKGEMM_STEP_NONE && vkgemm::plan::info(step).operand == VKGEMM_SLOT_RESIDUAL;
}

constexpr VkgemmStepKind readers[] = {VKGEMM_STEP_NONE,      VKGEMM_STEP_BIAS_ROW,  VKGEMM_STEP_BIAS_COL,
                                      VKGEMM_STEP_SCALE_ROW, VKGEMM_STEP_SCALE_COL, VKGEMM_STEP_SCALE_ALL,
                                      VKGEMM_STEP_RESIDUAL,  VKGEMM_STEP_DRELU,     VKGEMM_STEP_GATE_RELU};

}  // namespace

TEST_SUITE_BEGIN("operand types");

TEST_CASE("each operand of the epilogue in each type that it may have") {
    for_each_kernel([](const Kernel& kernel, Tally& tally) {
        tally.none();
        uint64_t i = 0;
        for (const VkgemmStepKind step : readers)
            for (const Type type : types_beside(kernel, step == VKGEMM_STEP_NONE || reads_residual(step))) {
                Case x = odd_case(kernel);
                if (i % 2) x = case_for(kernel, x.problem.m, x.problem.n / 16 * 16 + 16, x.problem.k);  // D is wide
                give(x.problem, step, type);
                x.alpha = -1;
                x.beta = step == VKGEMM_STEP_NONE ? 2 : 0;
                x.addresses = i % 3 == 1;
                x.seed = ++i;
                tally(x);
            }
    });
}

TEST_CASE("operands of different types beside one D, transposed, in batches, and misplaced") {
    for_each_kernel([](const Kernel& kernel, Tally& tally) {
        tally.none();
        if (types_beside(kernel, true).empty()) return;
        for (const bool transposed : {false, true}) {
            Case x = odd_case(kernel);
            Problem& p = x.problem;
            give(p, VKGEMM_STEP_NONE, f32);
            give(p, VKGEMM_STEP_BIAS_ROW, bf16);
            give(p, VKGEMM_STEP_RESIDUAL, f16);
            give(p, VKGEMM_STEP_SCALE_COL, f32);
            if (transposed)
                p.d.layout = columnMajor;
            else
                p.c.layout = columnMajor;
            p.epilogue.add({VKGEMM_STEP_LEAKY_RELU, transposed ? 0.5f : -2.0f});
            p.batch = 2;
            x.beta = 1;
            x.shift = wants_alignment(kernel) ? 0 : 2;
            tally(x);
        }
    });
}

TEST_CASE("leaky ReLU: below 0 the slope, and 0 if that is 0; NaN stays NaN") {
    for_each_product([](const Kernel& kernel, Tally& tally) {
        const bool scaled = kernel.module.d == vkgemm::plan::scaled;
        if (!vkgemm::plan::info(kernel.module.accumulate).is_float && !scaled) return tally.none();
        for (const float slope : {0.5f, -1.0f, 0.0f}) {
            Case x = odd_case(kernel);
            x.problem.epilogue = {{VKGEMM_STEP_LEAKY_RELU, slope}};
            tally(x);
            x.fill = Fill::special;
            tally(x);
        }
    });
}

TEST_CASE("the derivative of ReLU: 0 where the residual is 0 or less, also of NaN; a residual of NaN changes nothing") {
    for_each_product([](const Kernel& kernel, Tally& tally) {
        for (const bool on_d : {false, true})
            for (const Fill fill : {Fill::exact, Fill::special}) {
                Case x = odd_case(kernel);
                Problem& p = x.problem;
                x.fill = fill;
                if (on_d) {
                    x.alias = Alias::residual;
                    p.batch = 2;
                    p.d.layout = columnMajor;
                    p.d.ld = p.m + 3;
                }
                p.epilogue = {{VKGEMM_STEP_BIAS_COL}, {VKGEMM_STEP_DRELU}};
                tally(x);
            }
    });
}

TEST_CASE("sums of i8 become f32, f16, bf16 and i8") {
    for_each_kernel([](const Kernel& kernel, Tally& tally) {
        tally.none();
        if (!kernel.module.writes(i8)) return;
        uint64_t seed = 0;
        for (const Type d : {f32, f16, bf16, i8})
            for (const bool wide : {false, true}) {
                Case x = odd_case(kernel);
                if (wide) x = case_for(kernel, x.problem.m, x.problem.n / 16 * 16 + 16, x.problem.k);
                Problem& p = x.problem;
                p.d.type = d;
                x.seed = ++seed;
                x.alpha = 0.5;
                tally(x);
                give(p, wide ? VKGEMM_STEP_BIAS_COL : VKGEMM_STEP_BIAS_ROW, i32);
                give(p, wide ? VKGEMM_STEP_SCALE_ROW : VKGEMM_STEP_SCALE_COL, f32);
                p.cSource = VKGEMM_C_IS_D;
                x.beta = -1;
                tally(x);
                x.fill = Fill::special;
                tally(x);
                p.epilogue.add({VKGEMM_STEP_CLAMP, -3, 100});
                x.problem.k = 0;
                tally(x);
            }
    });
}

TEST_CASE("i8 saturates, and of two nearest whole numbers takes the even one") {
    // Sums of f32 below are 0.5 times whole numbers between far below -128 and far above 127.
    size_t ran = 0;
    for (const Kernel& kernel : vkgemm::plan::kernels()) {
        if (!kernel.module.writes(i8) || !kernel.module.is_product() || !is_chosen(kernel) || !fits(kernel) || ran == 3)
            continue;
        ++ran;
        Case x = case_for(kernel, 40, 32, 8);
        x.problem.d.type = i8;
        x.alpha = 0.5;
        x.seed = 5;
        x.tile = small_tile(kernel);
        const std::string why = run(x);
        CHECK_MESSAGE(why.empty(), why);
        bool lowest = false, highest = false, between = false;
        for (const double d : result(x)) {
            lowest |= d == -128;
            highest |= d == 127;
            between |= d > -100 && d < 100 && d != 0;
        }
        CHECK_MESSAGE((lowest && highest && between), kernel.name, ": the sums are too large or too small to tell");
    }
}
