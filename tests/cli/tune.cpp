// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "cli/program.h"

using namespace vkgemm::test;

namespace {

/// The third field of "device | problem | kernel | constants".
std::string kernel_of(const std::string& row) {
    std::string rest = row;
    for (int i = 0; i < 2; ++i) rest = rest.substr(rest.find(" | ") + 3);
    return rest.substr(0, rest.find(" |"));
}

}  // namespace

TEST_SUITE_BEGIN("tune");

TEST_CASE("tune: a row for each problem; --resume tunes only what has none; bench follows the rows") {
    const Folder folder("tune");
    expect(run(0, "tune 24x16x8 'i32*i32 16x16x16 bias=col' --budget 12 --out rows.txt --quiet").out, {"2 problems"});
    const std::vector<std::string> tuned = rows(read("rows.txt"));
    REQUIRE(tuned.size() == 2);
    expect(tuned[0], {"| f32*f32+f32->f32 24x16x8 |"});
    expect(tuned[1], {"| i32*i32+i32->i32 16x16x16 |", "SPLIT="});

    const std::string resumed = run(0, "tune 24x16x8 8x8x8 --budget 8 --out rows.txt --resume --quiet").out;
    expect(resumed, {"1 problem", "8x8x8"});
    CHECK(!contains(resumed, "24x16x8"));
    CHECK(rows(read("rows.txt")).size() == 3);
    expect(read("rows.txt"), {tuned[0], tuned[1], "| f32*f32+f32->f32 8x8x8 |"});

    const std::string kernel = kernel_of(tuned[0]);
    {
        const Variable file("VKGEMM_TUNED", "rows.txt");
        expect(run(0, "bench 24x16x8 --repeats 1 --quiet").out, {kernel});
    }
    // Even a row that no model would choose.
    write("injected.txt", "# by hand\n" + replace(tuned[0], kernel, "tiled_f32_32x32") + "\n");
    const Variable file("VKGEMM_TUNED", "injected.txt");
    expect(run(0, "bench 24x16x8 --repeats 1 --quiet").out, {"tiled_f32_32x32"});
}

TEST_CASE("tune: a row of an unknown kernel is skipped with a warning, and its problem tuned again") {
    const Folder folder("tune_unknown");
    write("renamed.txt", "llvmpipe | f32*f32+f32->f32 8x8x8 | no_such | BM=1\n");
    const Run r = run(0, "tune 8x8x8 --budget 4 --out renamed.txt --resume --quiet");
    expect(r.err, {"no_such"});
    expect(r.out, {"1 problem"});
    expect(read("renamed.txt"), {"| f32*f32+f32->f32 8x8x8 | "});
    CHECK(rows(read("renamed.txt")).size() == 2);
}

TEST_CASE("tune: the summary names a budget that two kernels exceed") {
    const Folder folder("tune_budget");
    expect(run(0, "tune 256x256x256 --budget 0.1 --out rows.txt --quiet").out,
           {"the budget was 100.0 ms", "two kernels are always tried"});
}

TEST_CASE("tune --random: too few problems for a fit; what goes beside it") {
    const Folder folder("tune_random");
    expect(run(0, "tune --random 1 --seed 3 --max-flops 2e7 --type i8 --out rows.txt --quiet").out,
           {"1 problem measured", "a fit needs 8", "written to rows.txt"});
    refused(2, "tune --random 1 8x8x8", {"--random"});
    refused(2, "tune --random 1 --suite classic", {"--random"});
    refused(2, "tune --seed 1 8x8x8", {"--random"});
    refused(2, "tune --random 1 --type f23", {"f23"});
    refused(2, "tune --random 0", {"--random"});
}

TEST_CASE("tune: a model in the file is used, and skipped with its line if it is broken") {
    const Folder folder("tune_model");
    write("model.txt", "llvmpipe | model 6 | cpu | steps=100\n");
    const std::string before = run(0, "explain 256x256x256 --quiet").out;
    expect(before, {"cpu_f32"});
    const Variable file("VKGEMM_TUNED", "model.txt");
    CHECK(!contains(run(0, "explain 256x256x256 --quiet").out, "kernel     cpu_f32"));
    write("model.txt", "llvmpipe | model 6 | cpu | step=100\n");
    const Run skipped = run(0, "explain 256x256x256 --quiet");
    CHECK(skipped.out == before);
    expect(skipped.err, {"VKGEMM_TUNED: model.txt: tuned rows, line 1", "'step=100'", "is skipped"});
}

TEST_CASE("tune: a broken row is skipped as the library skips it, a missing file is refused by its name") {
    const Folder folder("tune_broken");
    const std::string row = "llvmpipe | f32*f32+f32->f32 24x16x8 | tiled_f32_8x8 |\n";
    write("broken.txt", "# by hand\n\nllvmpipe | 8x8 | tiled_f32_8x8 |\n" + row);
    {
        const Variable file("VKGEMM_TUNED", "broken.txt");
        const Run r = run(0, "bench 24x16x8 --repeats 1 --quiet");
        expect(r.err, {"VKGEMM_TUNED: broken.txt: tuned rows, line 3", "the line 'llvmpipe | 8x8 ", "is skipped"});
        expect(r.out, {"tiled_f32_8x8"});  // the other row is used
    }
    expect(run(2, "tune 8x8x8 --out broken.txt --resume --quiet").err, {"broken.txt", "line 3"});
    const Variable file("VKGEMM_TUNED", "none.txt");
    expect(run(2, "bench 24x16x8 --repeats 1 --quiet").err, {"VKGEMM_TUNED", "none.txt"});
}

TEST_SUITE_END();
