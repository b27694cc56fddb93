// SPDX-License-Identifier: MIT
// Every kernel at the edges of its own tile, and of tiles that no row has.
#include <doctest/doctest.h>

#include <array>

#include "kernels/tally.h"
#include "support/random.h"

using namespace vkgemm::test;
using vkgemm::columnMajor;
using vkgemm::plan::Kernel;
using vkgemm::plan::Layout;
using vkgemm::plan::Tile;

namespace {

std::array<uint64_t, 5> edges(uint64_t block) {
    return {1, std::max<uint64_t>(block, 2) - 1, block, block + 1, 2 * block + 1};
}

/// Calls `each` with sizes such that every pair of edges (of m and n, m and k, n and k) occurs once, and a whole tile.
template <class Each>
void for_each_edge(const Tile& t, Each&& each) {
    const auto m = edges(t.BM), n = edges(t.BN), k = edges(std::max(t.BK, 4u));
    for (size_t i = 0; i < 5; ++i)
        for (size_t j = 0; j < 5; ++j) each(m[i], n[j], k[(i + j + 3) % 5], i * 5 + j);
}

}  // namespace

TEST_SUITE_BEGIN("rows");

TEST_CASE("edges: whole numbers, exact") {
    for_each_kernel([](const Kernel& kernel, Tally& tally) {
        for_each_edge(kernel.tile, [&](uint64_t m, uint64_t n, uint64_t k, uint64_t seed) {
            Case x = case_for(kernel, m, n, k);
            x.seed = seed;
            tally(x);
        });
    });
}

TEST_CASE("edges: transposed, misaligned, scaled and added to, exact") {
    for_each_kernel([](const Kernel& kernel, Tally& tally) {
        const bool floats = vkgemm::plan::info(kernel.module.accumulate).is_float;
        for_each_edge(kernel.tile, [&](uint64_t m, uint64_t n, uint64_t k, uint64_t seed) {
            Case x = case_for(kernel, m, n, k);
            x.seed = seed;
            x.problem.a.layout = x.problem.b.layout = columnMajor;
            x.problem.cSource = VKGEMM_C_SEPARATE;
            x.alpha = -2;
            x.beta = floats ? 0.5 : 3;
            x.shift = 1;
            tally(x);
        });
    });
}

TEST_CASE("edges: anything, within the derived bound") {
    for_each_kernel([](const Kernel& kernel, Tally& tally) {
        for_each_edge(kernel.tile, [&](uint64_t m, uint64_t n, uint64_t k, uint64_t seed) {
            if (seed % 3 != 0) return;
            Case x = case_for(kernel, m, n, 5 * k);
            x.seed = seed;
            x.fill = Fill::random;
            tally(x);
        });
    });
}

TEST_CASE("bands of tiles: that come out even, that do not, that are higher than the grid") {
    for_each_product([](const Kernel& kernel, Tally& tally) {
        for (const uint32_t rows : {2u, 3u, 4096u}) {
            Case x = case_for(kernel, 4 * kernel.tile.BM + 1, 3 * kernel.tile.BN + 1, 5);
            x.problem.batch = 2;
            x.problem.cSource = VKGEMM_C_IS_D;
            x.beta = 1;  // a tile done twice shows
            x.tile = "RASTER=" + std::to_string(rows);
            x.seed = rows;
            tally(x);
        }
    });
}

TEST_CASE("a tile is a value: tiles that no row has") {
    const uint32_t sizes[] = {4, 8, 12, 16, 20, 24, 32, 64}, depths[] = {1, 2, 4, 5, 8, 12, 16, 32},
                   own[] = {1, 2, 3, 4, 6, 8};
    for_each_product([&](const Kernel& kernel, Tally& tally) {
        Random random(kernel.tile.BM * 1000 + kernel.tile.BK);
        const auto bytes = kernel.module.element_bytes();
        int found = 0;
        for (int tried = 0; tried < 20000 && found < 3; ++tried) {
            Tile t = kernel.tile;
            t.BM = random.pick(std::to_array(sizes));
            t.BN = random.pick(std::to_array(sizes));
            t.BK = random.pick(std::to_array(depths));
            for (auto [constant, row] : {std::pair{&t.TM, kernel.tile.TM}, {&t.TN, kernel.tile.TN}})
                *constant = row <= 1 ? row : random.pick(std::to_array(own));
            if (kernel.tile.DEPTH) t.DEPTH = random.pick(std::to_array(own));
            t.WG = std::max(1u, t.BM / std::max(t.TM, 1u) * (t.BN / std::max(t.TN, 1u)));
            if (vkgemm::plan::broken_rules(kernel.module.family, t, bytes, {16384, 256}).count) continue;
            Case x = case_for(kernel, 2 * t.BM + 1, t.BN + 1, 3 * t.BK + 1);
            x.tile = to_text(t);
            x.seed = static_cast<uint64_t>(tried);
            tally(x);
            ++found;
        }
        if (!found) tally(odd_case(kernel));  // too many constants to guess
    });
}

TEST_SUITE_END();
