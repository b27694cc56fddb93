// SPDX-License-Identifier: MIT
// Products in whole numbers of an A that is rounded to MXINT8, beside the same rounding on the host.
#include <doctest/doctest.h>

#include <algorithm>

#include "kernels/tally.h"
#include "shaders/gemv_blocks/family_mxint8.h"

using namespace vkgemm::test;
using vkgemm::plan::info;
using vkgemm::plan::Kernel;
using vkgemm::plan::Type;

namespace {

/// Calls `each` for every row of the family, and every format that it takes, with a case of several tiles.
template <class Each>
void for_each_rounded(const Each& each) {
    size_t number = 0;
    for (const Kernel& kernel : vkgemm::plan::kernels()) {
        if (!kernel.module.family.uses_packed_dots || !is_chosen(kernel) || !fits(kernel)) continue;
        Tally tally(std::string(kernel.name), is_quick() ? 24 : 6, number);
        for (const auto& format : vkgemm::plan::type_info) {
            if (!vkgemm::plan::family::has_dots(format.type)) continue;
            Case x = case_for(kernel, 1 + number % 8, kernel.tile.BN + 3, 512);
            x.problem.a.type = vkgemm::plan::f32;
            x.problem.b.type = format.type;
            x.seed = ++number;
            each(kernel, x, tally);
        }
    }
}

}  // namespace

TEST_SUITE_BEGIN("formats");

TEST_CASE("mxint8: every type of A, 1 to 8 rows; rows that are 0, small or large, and that reach the largest code") {
    for_each_rounded([](const Kernel& kernel, Case x, Tally& tally) {
        constexpr Type types[] = {vkgemm::plan::f32, vkgemm::plan::f16, vkgemm::plan::bf16};
        for (const Fill fill : {Fill::exact, Fill::random, Fill::scaled}) {
            x.fill = fill;
            x.shift = static_cast<uint32_t>(x.seed % 3);
            x.problem.a.type = types[fill == Fill::scaled ? 0 : x.seed % 3];
            if (fill == Fill::scaled) x.problem.m = 8;
            if (fill != Fill::scaled || kernel.module.d == vkgemm::plan::f32) tally(x);
        }
    });
}

TEST_CASE("mxint8: one infinity or NaN in A, at either end of K, makes its row of D NaN") {
    for_each_rounded([](const Kernel&, Case x, Tally& tally) {
        x.problem.m = 4;
        x.fill = Fill::placed;
        for (const uint64_t k : {uint64_t{0}, x.problem.k - 1}) {
            x.seed = placed_seed(k, false, static_cast<unsigned>(x.seed % 3));
            tally(x);
        }
    });
}

TEST_CASE(
    "mxint8: groups of each kind, with NaN and infinities among the numbers, which are rounded as in one product") {
    constexpr VkgemmGrouping kinds[] = {VKGEMM_GROUPING_TABLE, VKGEMM_GROUPING_INDEXED, VKGEMM_GROUPING_SELECTED};
    size_t number = 0;
    for_each_rounded([&](const Kernel& kernel, Case x, Tally& tally) {
        x.problem.grouping = kinds[number++ % std::size(kinds)];
        if (x.problem.grouping == VKGEMM_GROUPING_SELECTED && !kernel.module.selects())
            x.problem.grouping = VKGEMM_GROUPING_TABLE;
        if (x.problem.grouping == VKGEMM_GROUPING_INDEXED) {
            x.problem.upTo = VKGEMM_UP_TO_M;
            x.problem.indicesPerRow = 2;
        }
        x.problem.batch = 3;
        x.problem.k = std::max<uint64_t>(64, info(x.problem.b.type).block);  // many rows have one infinity and no NaN
        x.fill = Fill::special;
        tally(x);
    });
}

TEST_SUITE_END();
