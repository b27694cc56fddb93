// SPDX-License-Identifier: MIT
// Not in builds from prebuilt SPIR-V, which have no traced modules.
#include <doctest/doctest.h>

#include "cli/program.h"

using namespace vkgemm::test;

TEST_SUITE_BEGIN("cover");

TEST_CASE("cover: what one kernel touches, as text and as a picture") {
    const Folder folder("cover");
    const Run r = run(0, "cover --kernel block_f32_64x64 --plot cover.svg");
    CHECK_MESSAGE(!contains(r.err, "workspace"), r.err);
    expect(r.out, {"256x256x256", "65536", "1.000 times", "256\xc2\xb7(0~63) + (0~7)", "no fault"});
    const std::string svg = read("cover.svg");
    expect_picture(svg);
    expect(svg, {"block_f32_64x64"});
    const Run piped = run(0, "cover 8x8x8 --kernel naive_f32_8x8 --plot - --quiet");
    expect_picture(piped.out);
    CHECK_MESSAGE(piped.err.empty(), piped.err);
}

TEST_CASE("cover: a family is all of its kernels, and alpha 0 is covered too") {
    const Folder folder("cover_family");
    expect(run(0, "cover 33x20x17 --kernel naive").out, {"naive_f32_8x8", "no fault"});
    expect(run(0, "cover '64x64x64 alpha=0 beta=1 c=separate' --kernel block_f32_64x64").out, {"no fault", "all"});
    const std::string shown = run_on_terminal(0, "cover 8x8x8 --kernel tiled").out;
    expect(shown, {"[1/5]", "[5/5"});  // progress counts the kernels
}

TEST_CASE("cover: where standard output is the picture, faults and refusals go to standard error") {
    const Folder folder("cover_fault");
    const Run r = run(1,
                      "cover 'f16*f16+f16 16x16x16' --kernel coopmat --inject-fault coopmat_f16h_32x32x16_mma8 "
                      "--plot -");
    expect_picture(r.out);
    expect(r.err, {"coopmat_f16h_32x32x16_mma8: FAULT: "});
    size_t refusals = 0;
    for (const std::string& line : rows(r.err)) refusals += line.starts_with("vkgemm: coopmat_f16h_");
    CHECK(refusals > 1);
}

TEST_CASE("cover: what cannot be covered") {
    const Folder folder("cover_refused");
    refused(2, "cover --kernel blok", {"'blok'", "'block'"});
    refused(2, "cover --kernel pack", {"'pack'"});
    refused(2, "cover 16x16x16 --kernel all", {"'all'"});
    expect(run(2, "cover 'i32*i32 8x8x8' --kernel block").err, {"'block'", "i32"});
    expect(run(2, "cover 8x8x8 --kernel block_f32_64x64 --tile BM=60,BK=6").err, {"\n    ", "BK 6, vector 4"});
    expect(run(2, "cover 16x16x16 --kernel block --tile BM=32").err, {"'block'"});
}

TEST_SUITE_END();
