// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "cli/program.h"

using namespace vkgemm::test;

TEST_SUITE_BEGIN("ladder");

TEST_CASE("ladder: every rung has a gain, one is the best, and the last is what the library chooses") {
    const Folder folder("ladder");
    const Run r = run(0, "ladder --size 24 --json ladder.json --plot - --quiet");
    expect_picture(r.out);
    expect(r.out, {"24x24x24", "naive"});
    CHECK_MESSAGE(r.err.empty(), r.err);
    const Json cases = Json::parse(read("ladder.json"))["cases"];
    REQUIRE(cases.size() >= 8);
    CHECK(cases[7]["rung"] == "vkgemm");
    if (cases.size() > 8) {  // other kernels serve f32 from parts, and one of them is chosen
        REQUIRE(cases.size() == 9);
        CHECK(cases[8]["rung"] == "f32_split_rows");
        CHECK(cases[8]["kernel"] != cases[7]["kernel"]);
        CHECK(contains(cases[8]["problem"].get<std::string>(), "accuracy=f32_split_rows"));
    }
    int best = 0;
    for (size_t i = 0; i < cases.size(); ++i) {
        best += cases[i]["of_best"] == 1;
        CHECK(cases[i].contains("gain") == (i > 0));
        if (i > 0) CHECK(cases[i]["gain"] > 0);
    }
    CHECK(best == 1);
    CHECK(cases[7]["kernel"] == run(0, "explain 24x24x24 --json -").json()["kernel"]);
}

TEST_CASE("ladder: JSON alone, for i32") {
    const Folder folder("ladder_i32");
    const Json integers = run(0, "ladder --size 24 --type i32 --json -").json()["cases"];
    REQUIRE(integers.size() == 4);
    CHECK(integers[3]["rung"] == "vkgemm");
    refused(2, "ladder --type f16", {"'f16'", "f32", "i32"});
}

TEST_CASE("ladder: what a workspace would bring to a classic kernel is not printed, as it is by bench") {
    const Folder folder("ladder_hints");
    const std::string hint = "a workspace of ";
    expect(run(0, "bench 16x16x4096 --kernel tiled_f32_16x16 --workspace 0 --repeats 1").err, {hint});
    const Run r = run(0, "ladder --shape 16x16x4096");
    CHECK_MESSAGE(!contains(r.err, hint), r.err);
}

TEST_CASE("ladder: a product over k = 0 has no rate and no best") {
    const Folder folder("ladder_empty");
    const std::string table = run(0, "ladder --shape 64x64x0 --type i32").out;
    expect(table, {"64x64x0", "naive_i32_8x8"});
    for (const std::string number : {"nan", "inf", "%"}) CHECK_MESSAGE(!contains(table, number), table);
}

TEST_SUITE_END();
