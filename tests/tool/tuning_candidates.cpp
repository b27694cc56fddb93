// SPDX-License-Identifier: MIT
// What the tuner tries.
#include "tools/vkgemm/measure/tuning_candidates.h"

#include <doctest/doctest.h>

#include <set>

#include "plan/problem/problem_text.h"
#include "support/files.h"

using namespace vkgemm::tool;
namespace plan = vkgemm::plan;

namespace {

constexpr uint64_t much = uint64_t{256} << 20;

plan::DeviceCaps h200() { return *plan::parse_device_caps(vkgemm::test::file_text("devices/h200.txt")); }
plan::Problem normalised(const std::string& line) {
    return plan::normalise(*plan::complete(plan::parse_problem(line)->problem)).problem;
}
plan::Request roomy() {
    plan::Request r;
    r.workspace_limit = much;
    return r;
}

}  // namespace

TEST_CASE("candidates: all that serve, each once, the cost model's choice, then by predicted cost") {
    const plan::DeviceCaps caps = h200();
    for (const std::string& line : vkgemm::test::lines_of("problems/models.txt")) {
        CAPTURE(line);
        const plan::Problem p = normalised(line);
        const std::vector<Candidate> all = candidates(caps, p, roomy());
        const auto choice = plan::select(caps, p, roomy());
        REQUIRE(choice);
        REQUIRE(!all.empty());
        CHECK(all[0].kernel == choice->kernel->name);
        CHECK(all[0].cost == choice->schedule.cost);
        std::set<std::string> kernels, whole;
        double before = 0;
        for (const Candidate& c : all) {
            CHECK(c.chosen == (&c == &all[0]));
            CHECK(c.cost >= before);
            if (!c.chosen) before = c.cost;
            kernels.insert(c.kernel);
            whole.insert(c.kernel + " " + c.tile);
            plan::Request forced = roomy();
            forced.kernel = c.kernel, forced.tile = c.tile;
            const auto again = plan::select(caps, p, forced);
            REQUIRE_MESSAGE(bool(again), c.kernel, " ", c.tile, ": ", again.status().text);
            CHECK(again->schedule.cost == doctest::Approx(c.cost));
        }
        CHECK(whole.size() == all.size());
        size_t serving = 0;
        for (const plan::Candidate& row : plan::list_candidates(caps, p, roomy())) serving += !row.why;
        CHECK(kernels.size() == serving);
    }
}

TEST_CASE("candidates: K is cut otherwise, and operands that lie badly are packed and not") {
    const auto tiles_of = [&](const std::string& line, const plan::Request& request) {
        std::set<std::string> tiles;
        const auto all = candidates(h200(), normalised(line), request);
        for (const Candidate& c : all)
            if (c.kernel == all[0].kernel) tiles.insert(c.tile);
        return tiles;
    };
    const auto deep = tiles_of("f16*f16 128x128x65536", roomy());
    CHECK(deep.contains("SPLIT=1,PACK=1"));
    CHECK(deep.size() >= 3);
    const auto odd = tiles_of("f16*f16 1023x1023x1023", roomy());
    CHECK(odd.contains("SPLIT=1,PACK=1"));
    CHECK(odd.contains("SPLIT=1,PACK=4"));
    for (const std::string& tile : tiles_of("f16*f16 1023x1023x1023", {})) CHECK(tile == "SPLIT=1,PACK=1");
    CHECK(candidates(h200(), normalised("f64*f64 8x8x8"), roomy()).empty());
}
