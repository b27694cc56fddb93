// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "cli/program.h"

using namespace vkgemm::test;

TEST_SUITE_BEGIN("kernels");

TEST_CASE("kernels lists every kernel once, as a table or as JSON") {
    const Folder folder("kernels");
    const Run r = run(0, "kernels --json -");
    const Json json = r.json();
    CHECK(json["command"] == "kernels");
    std::set<std::string> names;
    for (const Json& k : json["kernels"]) names.insert(k["name"]);
    CHECK(names.size() == json["kernels"].size());
    CHECK(names.contains("naive_f32_8x8"));
    REQUIRE(json["chains"].size() == 3);
    CHECK(json["chains"][0]["type"] == "f16");
    const std::string table = run(0, "kernels").out;
    for (const Json& c : json["chains"])
        CHECK_MESSAGE(contains(table, "chain of " + std::string(c["type"]) + ": "), c["how"]);
    for (const std::string& name : names) CHECK_MESSAGE(contains(table, name), name);
}

TEST_CASE("kernels of a problem: what each needs and why it cannot serve") {
    const Folder folder("kernels_problem");
    const std::string problem =
        "'f16*f16 64x128x256 batch=4 layout=nt lda=256 ldb=256 stride_a=0 alpha=0.5 beta=1 bias=col scale=row "
        "residual'";
    expect(run(0, "kernels " + problem).out, {"f16*f16+f32->f16"});
    expect(run(0, "kernels 'f16*f16 16x4096x4096' --all").out,
           {"coopmat_f16_128x256x32", "storage16 float16 memory_model", "bytes 43008, limit 32768"});
}

TEST_CASE("kernels of a problem are those that fit, and only on request the reasons against the others") {
    const Folder folder("kernels_short");
    const auto lines = [](const std::string& text) { return std::count(text.begin(), text.end(), '\n'); };
    const std::string some = run(0, "kernels 'f32*f32 64x64x64'").out, all = run(0, "kernels 64x64x64 --all").out;
    const Json json = run(0, "kernels 64x64x64 --json -").json();
    const auto fitting = std::count_if(json["kernels"].begin(), json["kernels"].end(),
                                       [](const Json& k) { return k["unfit"].is_null() && !k["helper"]; });
    CHECK(fitting > 10);
    CHECK(lines(some) == fitting + 6);  // device, problem, head, sum and two empty lines
    CHECK(lines(all) > 1000);
    expect(some, {"naive_f32_8x8", "kernels fit; --all lists"});
    CHECK(!contains(some, "naive_i32_8x8"));
    CHECK(contains(all, "naive_i32_8x8"));
    expect(run(0, "kernels 'f16*u8_g128 1x64x256'").out, {"0 of ", "kernels fit: B has blocks of 128 elements"});
}

TEST_CASE("kernels of matrix shapes that no device ran are marked") {
    const Folder folder("kernels_emulated");
    std::set<std::string> emulated;
    const Json listed = run(0, "kernels --json -").json();
    for (const Json& k : listed["kernels"])
        if (k["emulated"]) emulated.insert(k["name"]);
    CHECK(emulated.contains("coopmat_f16_64x64x32_mma8x8x16"));
    CHECK(emulated.contains("coopmat_bf16_64x64x32_mma8x16x16"));
    CHECK(emulated.contains("coopmat_i8_64x64x64_mma8x16x32"));
    CHECK(emulated.contains("coopmat_i8_128x128x32_mma16"));
    for (const char* name : {"coopmat_f16_64x64x32", "coopmat_i8_64x64x64", "coopmat_f16_32x32x16_mma8"})
        CHECK_MESSAGE(!emulated.contains(name), name);
    expect(run(0, "kernels").out, {"ran with a stand-in for such matrix units"});
}

TEST_SUITE_END();
