// SPDX-License-Identifier: MIT
// The network that corrects the costs of tiles: its rows, for which devices they hold, and its value.
#include "plan/choice/tile_terms.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "plan/device/device_caps.h"
#include "support/files.h"
#include "support/recorded_device.h"

using namespace vkgemm::plan;
using namespace vkgemm::test;

TEST_CASE("every row of terms.def is of a kernel, and holds on the devices that it was fitted on alone") {
    const std::string_view rows[] = {
#define TERMS(module, tile, ...) #module "_" #tile,
#include "terms.def"
#undef TERMS
    };
    const DeviceCaps nvidia = device("h200");
    auto other = nvidia;
    other.name = "AMD Radeon RX 7900 XTX";
    for (const std::string_view name : rows) {
        CAPTURE(name);
        const Kernel* const k = find_kernel(name);
        REQUIRE(k);
        const TileTerms* terms = find_tile_terms(*k, k->tile, nvidia);
        REQUIRE(terms);
        CHECK((terms->step > 50 && terms->step < 150));
        CHECK(!find_tile_terms(*k, k->tile, other));
        for (uint32_t Tile::*size : {&Tile::BM, &Tile::BN, &Tile::BK, &Tile::DEPTH, &Tile::WG}) {
            Tile larger = k->tile;
            larger.*size += 1 << 16;
            CHECK(!find_tile_terms(*k, larger, nvidia));
        }
    }
}

// A tile that is changed keeps its terms with its name, and a tile that is renamed does not compile without them. What
// this finds is a new kernel of a family with terms, which competes uncorrected until tools/fit has seen it.
TEST_CASE("kernels of families with terms have them, but for those that are named here") {
    const DeviceCaps nvidia = device("h200");
    std::set<std::string_view> fitted;
    for (const Kernel& k : kernels())
        if (find_tile_terms(k, k.tile, nvidia)) fitted.insert(k.module.family.name);
    const std::vector<std::string> lines = lines_of("unfitted.txt");
    std::set<std::string_view> named(lines.begin(), lines.end());
    CHECK(named.size() == lines.size());
    for (const Kernel& k : kernels()) {
        const bool may_have = fitted.contains(k.module.family.name) && !k.module.is_mixed() && !k.module.is_native() &&
                              k.module.accumulate != f64;
        if (may_have && !find_tile_terms(k, k.tile, nvidia))
            CHECK_MESSAGE(named.erase(k.name) == 1, k.name,
                          " has no terms; fit them, or name it in tests/unfitted.txt");
    }
    for (const std::string_view name : named)
        CHECK_MESSAGE(false, name, " is no kernel without terms; delete it from tests/unfitted.txt");
}

TEST_CASE("the factor of a tile is that of the rows of fact_weights.def and terms.def, within its limits") {
    const int weights[][hidden_units] = {
#define FITTED_ON(part_of_name)
#define FACT_WEIGHTS(fact, ...) {__VA_ARGS__},
#include "plan/choice/fact_weights.def"
#undef FITTED_ON
#undef FACT_WEIGHTS
    };
    const DeviceCaps nvidia = device("h200");
    int limited = 0, free = 0;
    for (const Kernel& k : kernels()) {
        const TileTerms* terms = find_tile_terms(k, k.tile, nvidia);
        if (!terms || !terms->has_facts) continue;
        CAPTURE(k.name);
        for (const float scale : {0.0F, 0.25F, 1.0F, 30.0F}) {
            std::array<float, size_t(TileFact::count)> facts;
            for (size_t i = 0; i < facts.size(); ++i) facts[i] = scale * (float(i * 7 % 11) / 5 - 1);
            double sum = 0;
            for (size_t i = 0; i < facts.size(); ++i) sum += double(facts[i]) * terms->of_facts[i] * double(term_unit);
            for (size_t unit = 0; unit < hidden_units; ++unit) {
                double held = terms->offsets[unit] * double(offset_unit);
                for (size_t i = 0; i < facts.size(); ++i)
                    held += double(facts[i]) * weights[i][unit] * double(weight_unit);
                sum += std::max(held, 0.0) * weights[facts.size()][unit] * double(weight_unit);
            }
            TermSum terms_sum(*terms);
            terms_sum.add(TileFact(0), std::span(facts).first(20));
            terms_sum.add(TileFact(20), std::span(facts).subspan(20));
            const double expected = std::clamp(sum, -most_correction, most_correction);
            CHECK(std::log(terms_sum.factor()) == doctest::Approx(expected).epsilon(1e-4));
            CHECK(terms_sum.factor() >= least_factor);
            ++(sum == expected ? free : limited);
        }
    }
    CHECK(free > 50);
    CHECK(limited > 50);
}
