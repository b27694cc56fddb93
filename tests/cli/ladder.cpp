// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "cli/program.h"

using namespace vkgemm::test;

TEST_SUITE_BEGIN("ladder");

TEST_CASE("ladder: every rung has a gain, one is the best, and the last is what the library chooses") {
    const Folder folder("ladder");
    const Json cases = run(0, "ladder --size 24 --json -").json()["cases"];
    REQUIRE(cases.size() == 8);
    CHECK(cases[7]["rung"] == "vkgemm");
    int best = 0;
    for (size_t i = 0; i < cases.size(); ++i) {
        best += cases[i]["of_best"] == 1;
        CHECK(cases[i].contains("gain") == (i > 0));
        if (i > 0) CHECK(cases[i]["gain"] > 0);
    }
    CHECK(best == 1);
    CHECK(cases[7]["kernel"] == run(0, "explain 24x24x24 --json -").json()["kernel"]);
    const Json integers = run(0, "ladder --size 24 --type i32 --json -").json()["cases"];
    REQUIRE(integers.size() == 4);
    CHECK(integers[3]["rung"] == "vkgemm");
    refused(2, "ladder --type f16", {"'f16'", "f32", "i32"});
}

TEST_CASE("ladder: a product over k = 0 has no rate and no best") {
    const Folder folder("ladder_empty");
    const std::string table = run(0, "ladder --shape 64x64x0").out;
    for (const std::string number : {"nan", "inf", "%"}) CHECK_MESSAGE(!contains(table, number), table);
}

TEST_CASE("ladder: a picture alone") {
    const Folder folder("ladder_plot");
    const Run r = run(0, "ladder --size 24 --plot - --quiet");
    expect_picture(r.out);
    expect(r.out, {"24x24x24", "naive"});
    CHECK_MESSAGE(r.err.empty(), r.err);
}

TEST_SUITE_END();
