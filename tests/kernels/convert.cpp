// SPDX-License-Identifier: MIT
// A and B of types that the kernel does not multiply: with accuracy=narrow a first pass, pack::convert or
// pack_fragments::mixed, converts them.
#include <doctest/doctest.h>

#include <set>

#include "kernels/tally.h"

using namespace vkgemm::test;
using vkgemm::plan::columnMajor;
using vkgemm::plan::Kernel;
using vkgemm::plan::rowMajor;
using vkgemm::plan::Type;

namespace {

/// Calls `each` for the first row of each module whose operands may be converted.
template <class Each>
void for_each_converted(const Each& each) {
    std::set<std::string_view> modules;
    for (const Kernel& kernel : vkgemm::plan::kernels()) {
        const Kernel* const packer = converter_of(kernel);
        if (!packer || !fits(kernel) || !(is_chosen(kernel) || is_chosen(*packer))) continue;
        if (!modules.insert(kernel.module.name).second) continue;
        const bool first = modules.size() == 1;
        Tally tally(std::string(kernel.name) + " converted", (first ? 3 : 12) * (is_quick() ? 4 : 1), modules.size(),
                    Twist{small_tile(kernel), 0, true});
        each(kernel, tally);
    }
}

/// Sizes that cross the edges of small tiles, with B k-contiguous.
Case converted_case(const Kernel& kernel, Type a, Type b, uint64_t k) {
    Case x = case_for(kernel, 35, 37, k);
    x.problem.a.type = a;
    x.problem.b.type = b;
    x.problem.b.layout = columnMajor;
    x.problem.accuracy = VKGEMM_ACCURACY_NARROW;
    return x;
}

/// The types that go with a kernel of `unit`, so that it serves them with narrow.
Type partner(Type unit, size_t number) {
    const Type others[] = {vkgemm::plan::f32, vkgemm::plan::f16, vkgemm::plan::i8, vkgemm::plan::u8};
    return unit == vkgemm::plan::bf16 ? unit : others[number % 4];
}

}  // namespace

TEST_SUITE_BEGIN("formats");

TEST_CASE("converted: every format as A and as B, exact and within the bound") {
    for_each_converted([](const Kernel& kernel, Tally& tally) {
        for (const auto& format : vkgemm::plan::type_info) {
            if (format.is_plain()) continue;
            const Type other = partner(kernel.module.a, size_t(format.type));
            const uint64_t k = 3 * std::max(format.block, 32u);
            for (const bool is_a : {false, true}) {
                Case x = is_a ? converted_case(kernel, format.type, other, k)
                              : converted_case(kernel, other, format.type, k);
                tally(x);
                x.fill = Fill::random;
                x.shift = wants_alignment(kernel) ? 16 : 8;
                x.problem.batch = 2;
                x.problem.k = 2 * k;
                (is_a ? x.problem.a : x.problem.b).ld = 2 * k + 2 * format.block;
                tally(x);
                x.problem.d.layout = columnMajor;
                x.fill = Fill::placed;
                if (format.type != VKGEMM_TYPE_NVFP4) tally(x);  // which has no NaN
            }
        }
    });
}

TEST_CASE("converted: plain types that differ, in every layout, of any length and alignment") {
    for_each_converted([](const Kernel& kernel, Tally& tally) {
        const Type types[] = {vkgemm::plan::f32, vkgemm::plan::f16, vkgemm::plan::bf16, vkgemm::plan::i8,
                              vkgemm::plan::u8};
        uint64_t seed = 0;
        for (const uint64_t k : {16u, 77u, 300u})
            for (const Type a : types)
                for (const Type b : types) {
                    const bool is_bf16 = a == vkgemm::plan::bf16 || b == vkgemm::plan::bf16;
                    if (a == b || is_bf16 != (kernel.module.a == vkgemm::plan::bf16)) continue;
                    Case x = converted_case(kernel, a, b, k);
                    x.seed = ++seed;
                    x.problem.a.layout = seed & 1 ? columnMajor : rowMajor;
                    x.problem.b.layout = seed & 2 ? columnMajor : rowMajor;
                    const bool wants_eights = kernel.module.family.packs_fragments;
                    if (seed % 3 == 0 || wants_eights) {
                        x.problem.m = 40;
                        x.problem.n = 24;  // rows of eights
                    }
                    if (wants_eights) x.problem.k = (k + 7) / 8 * 8;
                    x.problem.batch = 1 + seed % 2;
                    x.shift = (wants_alignment(kernel) ? 16 : 4) * static_cast<uint32_t>(seed % 3);
                    x.fill = seed % 5 == 0 ? Fill::special : seed % 7 == 0 ? Fill::random : Fill::exact;
                    tally(x);
                }
    });
}

TEST_CASE("converted: ahead of the run, for sizes that vary, in slices, and with an epilogue") {
    for_each_converted([](const Kernel& kernel, Tally& tally) {
        const bool is_bf16 = kernel.module.a == vkgemm::plan::bf16;
        for (const Type format : {VKGEMM_TYPE_Q4_0, VKGEMM_TYPE_Q8_0, VKGEMM_TYPE_Q4_K, VKGEMM_TYPE_F32}) {
            Case x = converted_case(kernel, kernel.module.a, format, 512);
            if (!is_bf16) x.problem.a.type = vkgemm::plan::i8;
            x.problem.epilogue = {{VKGEMM_STEP_BIAS_COL}, {VKGEMM_STEP_RELU}};
            x.problem.packedB = VKGEMM_PACKED_ANY;
            tally(x);
            x.problem.upTo = VKGEMM_UP_TO_M;
            for (const uint64_t m : {1u, 8u, 35u}) {
                x.sizes = vkgemm::plan::Sizes{.m = m, .n = x.problem.n, .k = 512, .batch = 1};
                tally(x);
            }
            x.problem.packedB = VKGEMM_PACKED_NONE;
            tally(x);
            x.sizes.reset();
            x.problem.upTo = 0;
            x.tile = "SPLIT=3";
            x.problem.cSource = VKGEMM_C_IS_D;
            x.beta = 1;
            x.alpha = -1;
            tally(x);
        }
    });
}

TEST_SUITE_END();
