// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "cli/program.h"

using namespace vkgemm::test;

TEST_SUITE_BEGIN("inspect");

TEST_CASE("inspect is JSON alone, where that is asked for") {
    const Folder folder("inspect");
    const Run r = run(0, "inspect --kernel tiled_f32_8x8 --json - --validate --quiet");
    CHECK_MESSAGE(r.err.empty(), r.err);
    const Json pass = r.json()["cases"][0]["passes"][0];
    CHECK(pass["kernel"] == "tiled_f32_8x8");
    CHECK(pass["declared_shared_bytes"] == 512);
}

TEST_CASE("inspect all: how many kernels cannot serve is counted on standard error") {
    const Folder folder("inspect_all");
    const Run r = run(0, "inspect 'f16*f16+f16 16x16x16' --kernel all --json - --quiet");
    expect(r.err, {"vkgemm explain"});
    CHECK(!r.json()["cases"].empty());
}

TEST_CASE("inspect --bound: without assembly there is no loop, and an architecture must be known") {
    const Folder folder("inspect_bound");
    const Run r = run(0, "inspect --kernel tiled_f32_8x8 --bound --json - --quiet");
    CHECK(r.json()["cases"][0]["passes"][0]["loop"].is_null());
    const Run table = run(0, "inspect --kernel tiled_f32_8x8 --bound");
    expect(table.out, {"fma", "cycles", "peak"});
    for (const Run& told : {r, table}) expect(told.err, {"provides no assembly that --bound reads", "RADV"});
    refused(2, "inspect --kernel tiled_f32_8x8 --bound --architecture Wonder", {"--architecture", "RDNA3"});
    refused(2, "inspect --kernel tiled_f32_8x8 --architecture RDNA3", {"--bound"});
}

TEST_CASE("code 3: a driver without assembly leaves no file") {
    const Folder folder("inspect_assembly");
    expect(run(3, "inspect --kernel naive_f32_8x8 --asm code.s").err, {"assembly"});
    CHECK(!is_file("code.s"));
    CHECK(!is_file("code.s.partial"));
}

TEST_CASE("inspect native: machine code needs no device") {
    const Folder folder("inspect_native");
    const std::string named = "inspect --kernel wgmma_f16_128x256x64";
    const Run r = run_shell("VK_DRIVER_FILES=/nonexistent.json \"$@\"", named);
    if (r.code != 0) {  // a build without machine code states why
        CHECK(r.code == 3);
        return expect(r.err, {"wgmma_f16_128x256x64: "});
    }
    expect(r.out, {"wgmma_f16_128x256x64_nn", "wgmma_f16_128x256x64_tt", "1 KiB", "225.1 KiB"});
    const Json j = run(0, named + " --json -").json();
    CHECK(j["device"].is_null());
    REQUIRE(j["cases"].size() == 4);
    const Json pass = j["cases"][1]["passes"][0];
    CHECK(pass["function"] == "wgmma_f16_128x256x64_nt");
    CHECK(pass["registers"] == 168);  // all that 384 threads can have
    CHECK(pass["scratch_bytes"] == 0);
    CHECK(pass["shared_bytes"] >= pass["declared_shared_bytes"]);
    CHECK(pass["declared_shared_bytes"] > 200000);
    CHECK(pass["code_bytes"] > 1000);
    expect(run(0, "inspect --kernel native").out, {"wgmma_f64_128x128x16_nt", "pack_parts_f16x2_8x256_t"});
    expect(run(3, named + " --asm code.s").err, {"--asm"});
}

TEST_CASE("inspect native: with a problem it is what the device can run") {
    const Folder folder("inspect_native_problem");
    expect(run(3, "inspect 'f16*f16 512x512x512' --kernel native").err, {"no kernel serves"});
    refused(2, "inspect --kernel native --tile SPLIT=2", {"--tile", "native"});
}

TEST_SUITE_END();
TEST_SUITE_BEGIN("compiler");

TEST_CASE("a driver that reports on its pipelines: numbers, its own names, assembly") {
    const Folder folder("inspect_compiler");
    const Run r = run(0, "inspect 64x64x4096 --kernel tiled_f32_16x16 --asm code.s --json told.json");
    expect(r.out, {"tiled_f32_16x16", "+ reduce_f32", "VGPRs"});
    const std::string text = read("told.json");
    const Json pass = Json::parse(text)["cases"][0]["passes"][0];
    CHECK(pass["registers"] > 0);
    REQUIRE(pass["statistics"].size() > 3);
    for (const Json& s : pass["statistics"]) CHECK_MESSAGE(!s["value"].is_number_float(), s.dump());  // not rounded
    expect(read("code.s"), {"; tiled_f32_16x16 WG=256", "v_"});
}

TEST_SUITE_END();
