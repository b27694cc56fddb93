// SPDX-License-Identifier: MIT
// Products in whole numbers of an A that is rounded to MXINT8, beside the same rounding on the host.
#include <doctest/doctest.h>

#include "kernels/tally.h"
#include "plan/families/gemv_mxint8.h"

using namespace vkgemm::test;
using vkgemm::plan::info;
using vkgemm::plan::Kernel;
using vkgemm::plan::Type;

namespace {

/// Calls `each` for every row of the family and every format that it takes, with a case of one row by some columns.
template <class Each>
void for_each_rounded(const Each& each) {
    size_t first = 0;
    for (const Kernel& kernel : vkgemm::plan::kernels()) {
        if (!kernel.module.family.uses_packed_dots || !is_chosen(kernel) || !fits(kernel)) continue;
        Tally tally(std::string(kernel.name), is_quick() ? 8 : 2, ++first);
        for (const auto& format : vkgemm::plan::type_info) {
            if (!vkgemm::plan::family::has_dots(format.type)) continue;
            Case x = case_for(kernel, kernel.tile.BM, kernel.tile.BN + 3, 512);
            x.problem.a.type = vkgemm::plan::f32, x.problem.b.type = format.type;
            each(kernel, x, tally);
        }
    }
}

}  // namespace

TEST_SUITE_BEGIN("formats");

TEST_CASE("mxint8: rows that are 0, that are small or large, and that reach the largest code") {
    for_each_rounded([](const Kernel& kernel, Case x, Tally& tally) {
        x.problem.m = std::max(6u, kernel.tile.BM), x.fill = Fill::scaled;
        if (kernel.module.d == vkgemm::plan::f32) tally(x);
        for (const Type a : {vkgemm::plan::f32, vkgemm::plan::f16, vkgemm::plan::bf16})
            for (uint64_t m = 1; m <= 8; ++m) {
                x.problem.m = m, x.problem.a.type = a, x.fill = m % 2 ? Fill::random : Fill::exact;
                x.problem.k = 256 * (1 + m), x.seed = m, x.shift = static_cast<uint32_t>(m % 3);
                tally(x);
            }
    });
}

TEST_CASE("mxint8: one infinity or NaN in A, at either end of K, makes its row of D NaN") {
    for_each_rounded([](const Kernel&, Case x, Tally& tally) {
        x.problem.m = 4, x.fill = Fill::placed;
        for (const uint64_t k : {uint64_t{0}, x.problem.k - 1})
            for (unsigned special = 0; special < 3; ++special) {
                x.seed = placed_seed(k, false, special);
                tally(x);
            }
    });
}

TEST_SUITE_END();
