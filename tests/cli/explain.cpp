// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "cli/program.h"

using namespace vkgemm::test;

TEST_SUITE_BEGIN("explain");

TEST_CASE("explain is JSON alone, where that is asked for, and silent under validation") {
    const Folder folder("explain");
    const Run r = run(0, "explain 64x64x64 --json - --validate");
    expect(r.err, {"validation"});
    const Json json = r.json();
    CHECK(json["problem"] == "f32*f32+f32->f32 64x64x64");
    CHECK(json["others"][0]["kernel"] == "naive_f32_8x8");
    CHECK(run(0, "explain 64x64x64 --json - --validate --quiet").err == "");
}

TEST_CASE("colours are for terminals, unless they are asked for") {
    const Folder folder("explain_colour");
    const std::string escape = "\x1b[";
    CHECK(contains(run(0, "explain 64x64x64 --color always").out, escape));
    CHECK(!contains(run(0, "explain 64x64x64").out, escape));
    CHECK(contains(run_on_terminal(0, "explain 64x64x64").out, escape));
    CHECK(!contains(run_on_terminal(0, "explain 64x64x64 --color never").out, escape));
    const Variable none("NO_COLOR", "1");
    CHECK(!contains(run_on_terminal(0, "explain 64x64x64").out, escape));
}

TEST_CASE("a tile that cannot be gets every reason, each on its line") {
    const Folder folder("explain_tile");
    const Run r = run(2, "explain 8x8x8 --kernel block_f32_64x64 --tile BM=60,BK=6");
    expect(r.err, {"block_f32_64x64:\n    ", "BM 60, TM 8", "BK 6, vector 4"});
    CHECK(rows(r.err).size() == 4);
}

TEST_CASE("code 3: no kernel of this build, or not this one") {
    const Folder folder("explain_unsupported");
    run(3, "explain 'f64*f64+f32->f64 8x8x8'");
    expect(run(3, "explain 8x8x8 --kernel gemv_f16_16x8").both(), {"gemv_f16_16x8", "f32"});
}

TEST_CASE("--tile that changes the choice: explain and bench name the kernel that was rejected") {
    const Folder folder("explain_rejected");
    const std::string chosen = run(0, "explain 64x64x64 --json -").json()["kernel"];
    const Json tiled = run(0, "explain 64x64x64 --tile BM=128 --json -").json();
    CHECK(tiled["kernel"] != chosen);
    expect(run(0, "explain 64x64x64 --tile BM=128").out, {"--tile", chosen, "\n" + chosen + " "});
    expect(run(0, "bench 64x64x64 --tile BM=128 --repeats 1 --json kept.json").out, {"--tile", chosen});
    expect(run(0, "bench --from kept.json").out, {"--tile", chosen});
}

TEST_SUITE_END();
