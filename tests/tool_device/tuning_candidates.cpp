// SPDX-License-Identifier: MIT
// What the tuner tries.
#include "tools/vkgemm/measure/tuning_candidates.h"

#include <doctest/doctest.h>

#include <set>

#include "support/device.h"
#include "tools/vkgemm/measure/cases.h"
#include "tools/vkgemm/measure/search.h"

using namespace vkgemm;
using test::device;
using tool::Candidate, tool::candidates;

namespace {

constexpr uint64_t much = uint64_t{256} << 20;

std::vector<Candidate> all_of(const std::string& line, uint64_t workspace = much) {
    const auto c = tool::parse_case(line);
    REQUIRE(c);
    const auto all = candidates(device().context(), c->problem, {.workspaceLimit = workspace});
    REQUIRE_MESSAGE(bool(all), all.status().text);
    return *all;
}

/// The tiles of the kernel that the cost model chooses.
std::set<std::string> tiles_of(const std::string& line, uint64_t workspace = much) {
    std::set<std::string> tiles;
    const std::vector<Candidate> all = all_of(line, workspace);
    for (const Candidate& c : all)
        if (c.kernel == all[0].kernel) tiles.insert(c.tile);
    return tiles;
}

}  // namespace

TEST_CASE("candidates: all that serve, each once, the cost model's choice, then by predicted cost") {
    for (const char* line :
         {"64x64x64", "1000x1000x1000", "1x4096x4096", "128x128x65536 layout=nt", "65x33x17 layout_d=t",
          "f16*f16 512x512x512", "i8*i8 64x64x1000", "64x64x64 packed_b=any", "65x33x517 layout_d=t packed_b=any",
          "f16*f16 65x33x17 packed_a=any packed_b=any", "q4_k*f16 33x65x512 layout=nt"}) {
        CAPTURE(std::string(line));
        const Problem p = tool::parse_case(line)->problem;
        const PlanOptions with_workspace{.flags = VKGEMM_PLAN_DRY | VKGEMM_PLAN_IGNORE_TUNED, .workspaceLimit = much};
        const auto choice = device().context().createPlan(p, with_workspace);
        REQUIRE_MESSAGE(bool(choice), choice.status().text);
        const std::vector<Candidate> all = all_of(line);
        REQUIRE(!all.empty());
        CHECK(all[0].kernel == choice->info().kernel);
        CHECK(all[0].cost == choice->info().predictedCost);
        std::set<std::string> kernels, whole;
        double before = 0;
        for (const Candidate& c : all) {
            CHECK(c.chosen == (&c == &all[0]));
            CHECK(c.cost >= before);
            if (!c.chosen) before = c.cost;
            kernels.insert(c.kernel);
            whole.insert(c.kernel + " " + c.tile);
            PlanOptions forced = with_workspace;
            forced.kernel = c.kernel.c_str();
            forced.tile = c.tile.c_str();
            const auto again = device().context().createPlan(p, forced);
            REQUIRE_MESSAGE(bool(again), c.kernel, " ", c.tile, ": ", again.status().text);
            CHECK(again->info().predictedCost == doctest::Approx(c.cost));
        }
        CHECK(whole.size() == all.size());
        size_t serving = 0;
        const auto e = Explanation::create(device().context(), p, with_workspace);
        REQUIRE(e);
        for (const VkgemmCandidate& c : e->candidates()) serving += c.reason == VKGEMM_SUCCESS;
        CHECK(kernels.size() == serving);
    }
}

TEST_CASE("candidates: an operand that comes packed stays so, beside any other that is packed or not") {
    const auto odd = tiles_of("i32*i32 1023x1023x1023 packed_b=any"),
               swapped = tiles_of("i32*i32 1023x1023x1023 layout_d=t packed_b=any");
    for (const char* tile : {"SPLIT=1,PACK=3", "SPLIT=1,PACK=4"}) CHECK_MESSAGE(odd.contains(tile), std::string(tile));
    for (const char* tile : {"SPLIT=1,PACK=2", "SPLIT=1,PACK=4"})
        CHECK_MESSAGE(swapped.contains(tile), std::string(tile));
    for (const std::string& tile : odd) CHECK_MESSAGE((tile.ends_with("PACK=3") || tile.ends_with("PACK=4")), tile);
}

TEST_CASE("search: out of time after the first candidate, it tries no other and does not time that one again") {
    const auto c = tool::parse_case("i32*i32 128x128x4096");
    const std::vector<Candidate> all = all_of(c->text);
    REQUIRE(all.size() > 2);
    tool::CaseRunner runner(device(), *c, {});
    const auto tried_until = [&](size_t most) {
        size_t begun = 0;
        const auto found = tool::search(runner, all,
                                        {.plan = {.workspaceLimit = much},
                                         .out_of_time = [&](const tool::Found& f) { return f.tried.size() >= most; },
                                         .begin = [&](const Candidate&, size_t) { ++begun; },
                                         .failed = [](const Candidate&, const tool::Measurement&) {}});
        REQUIRE_MESSAGE(bool(found), found.status().text);
        CHECK(found->tried.size() == begun);
        CHECK(found->cut_short.find("after " + std::to_string(most)) != std::string::npos);
        return begun;
    };
    CHECK(tried_until(1) == 1);
    CHECK(tried_until(2) == 2);
}

TEST_CASE("candidates: K is split otherwise, and misaligned operands are packed and not") {
    const auto deep = tiles_of("i32*i32 128x128x65536");
    CHECK(deep.contains("SPLIT=1,PACK=1"));
    CHECK(deep.size() >= 2);
    const auto odd = tiles_of("i32*i32 1023x1023x1023");
    CHECK(odd.contains("SPLIT=1,PACK=1"));
    CHECK(odd.contains("SPLIT=1,PACK=4"));
    for (const std::string& tile : tiles_of("i32*i32 1023x1023x1023", 0)) CHECK(tile == "SPLIT=1,PACK=1");
    CHECK(all_of("f64*f64+f64->f32 8x8x8").empty());
}
