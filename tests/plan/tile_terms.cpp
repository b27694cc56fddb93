// SPDX-License-Identifier: MIT
// The regressions of tiles: their rows, and for which devices they hold.
#include "plan/choice/tile_terms.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "plan/device/device_caps.h"
#include "support/files.h"

using namespace vkgemm::plan;
using namespace vkgemm::test;

TEST_CASE("every row of tile_terms.def is of a tile that exists, and holds on GPUs of NVIDIA alone") {
    struct Row {
        std::string_view family;
        uint32_t rows, cols, depth, bytes, loads;
    };
    const Row rows[] = {
#define TILE_TERMS(module, family, rows, cols, depth, bytes, loads, ...) {#family, rows, cols, depth, bytes, loads},
#include "plan/choice/tile_terms.def"
#undef TILE_TERMS
    };
    const auto nvidia = parse_device_caps(file_text("devices/h200.txt"));
    auto other = *nvidia;
    other.vendor = 0x1002;
    for (const Row& row : rows) {
        CAPTURE(row.family);
        CAPTURE(row.rows);
        CAPTURE(row.cols);
        const auto is_of = [&](const Kernel& k) {
            const Tile& t = k.tile;
            return k.module.family.name == row.family && k.module.element_bytes().a == row.bytes &&
                   k.module.accumulate != f64 && t.BM == row.rows && t.BN == row.cols && t.BK == row.depth &&
                   t.DEPTH == row.loads;
        };
        const auto k = std::ranges::find_if(kernels(), is_of);
        REQUIRE(k != kernels().end());
        const TileTerms* terms = find_tile_terms(*k, k->tile, *nvidia);
        REQUIRE(terms);
        CHECK((terms->step > 50 && terms->step < 150));
        CHECK(!find_tile_terms(*k, k->tile, other));
        for (uint32_t Tile::*size : {&Tile::BM, &Tile::BN, &Tile::BK}) {  // rows hold them modulo 256
            Tile larger = k->tile;
            larger.*size += 256;
            CHECK(!find_tile_terms(*k, larger, *nvidia));
        }
    }
    CHECK(factor_of(1000) == doctest::Approx(std::exp(most_correction)));
    CHECK(factor_of(-1000) >= least_factor);
    CHECK(factor_of(0) == 1);
}
