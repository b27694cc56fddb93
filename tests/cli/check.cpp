// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>

#include "cli/program.h"

using namespace vkgemm::test;

namespace {

const std::string wrong_row = "| tiled_f32_8x8 | f32*f32+f32->f32 9x9x9: D[8][8]";

/// The device's name, as rows of disabled kernels have it, from the head of a self-test result.
std::string device_of(const std::string& result) {
    const size_t from = result.find("check, "), to = result.find(" [", from);
    REQUIRE(to != std::string::npos);
    return result.substr(from + 7, to - from - 7);
}

}  // namespace

TEST_SUITE_BEGIN("check");

TEST_CASE("check: right results are code 0") {
    const Folder folder("check");
    const Run r = run(0, "check --kernel naive_f32_8x8 --runs 2 --out result.txt");
    expect(r.out, {"naive_f32_8x8", "right"});
    CHECK(!contains(r.out, "WRONG"));
    expect(read("result.txt"), {"# device | kernel | reason"});
    CHECK(rows(read("result.txt")).empty());
    expect(run(0, "check 9x9x9 'i32*i32 7x5x3 beta=1' --kernel auto --runs 2 --seed 7").out, {"4 runs", "seed 7"});
}

TEST_CASE(
    "check: a pipe gets lines of progress while it runs, also within a problem, and none if they are not wanted") {
    const std::string words = "check 9x9x9 8x8x8 --kernel naive_f32_8x8 --runs 2 --log-seconds 1e-6";
    const std::string shown = run(0, words).err;
    expect(shown, {"vkgemm: [1/2] f32*f32+f32->f32 9x9x9, naive_f32_8x8\n", "naive_f32_8x8: checks\n",
                   "vkgemm: [2/2, about ", " s left] f32*f32+f32->f32 8x8x8, naive_f32_8x8"});
    CHECK(std::ranges::count(shown, '\n') > 6);
    CHECK(run(0, words + " --quiet").err.empty());
    CHECK(run(0, "check 9x9x9 --kernel naive_f32_8x8 --runs 2 --log-seconds 1e9").err.empty());  // not yet
}

TEST_CASE("check: scalars in memory, types of the epilogue's operands, whole sums that become floats, and new types") {
    expect(run(0,
               "check '40x30x20 beta=1 bias=row clamp=-50:40 scalars=alpha,beta,clamp,monitor,largest' "
               "'f16*f16 9x8x7 beta=1 c=separate c_type=f32 bias=col bias_type=f32 residual residual_type=bf16' "
               "'i8*i8->f16 33x21x64 bias=row bias_type=i32 scale=col act=relu' 'i8*i8->i8 33x21x64 residual' "
               "'33x21x64 clamp=col' '33x21x64 clamp=row layout_d=t bias=col' 'u8*i8 33x21x64' "
               "'e4m3*f16 33x21x64' 'e4m3*e4m3 33x21x64' 'f32*u4_g64 33x21x128 layout=nt' 'f16*f16 33x21x64 act=drelu' "
               "'f16*f16 33x21x64 gate=silu' '9x20x64 bias=col pair=relu' 'f16*q4_0 3x24x64 layout=nt pair=gelu' "
               "--kernel tiled --runs 1")
               .out,
           {"right"});
}

TEST_CASE("check --native: a device without native kernels is code 3, with the reason; nothing else can be named") {
    refused(3, "check --native", {"wgmma_f16_128x256x64"});
    refused(2, "check 8x8x8 --native", {"--native"});
    refused(2, "check --native --kernel wgmma", {"--native", "--kernel"});
    refused(2, "check --native --out wrong.txt", {"--native", "--out"});
}

TEST_CASE("check: kernels of quantised weights are given block formats") {
    expect(run(0, "check --kernel gemv_blocks_f32_1x8 --runs 1").out, {"gemv_blocks_f32_1x8", "right"});
    expect(run(0, "check --kernel gemv_mxint8_f32_1x8 --runs 1").out, {"gemv_mxint8_f32_1x8", "right"});
}

TEST_CASE("check: f64 from products of int8 is checked with the kernels of whole numbers") {
    expect(run(0, "check 'f64*f64 9x8x7 accuracy=f64_split bias=row' --kernel tiled_i8_16x16 --runs 1").out,
           {"tiled_i8_16x16", "right"});
}

TEST_CASE("check: a kernel that does not serve is code 3 and no row of the result") {
    const Folder folder("check_unable");
    // Of the problems one has kernels. It is u8, which few kernels serve: a driver takes up to seconds to compile one.
    const Run some = run(3, "check 'f64*f64+f32->f64 8x8x8' 'u8*u8 8x8x8' --kernel all --runs 1");
    expect(some.err, {"f64*f64+f32->f64 8x8x8"});
    expect(some.out, {"tiled_u8_8x8", "right"});
    CHECK(!contains(some.err, "u8*u8"));
    run(3, "check 'i32*i32 8x8x8' --kernel block_f32_64x64 --out nothing.txt");
    CHECK(!is_file("nothing.txt"));  // nothing was compared
    // If several were tried, the reason is that of the first, which asks for least.
    expect(run(3, "check 'f16*q4_0 17x64x64 layout=nt' --kernel gemv_blocks").err,
           {"none of these kernels serves", "for example, gemv_blocks_f16_1x8: is for up to 16 rows"});
    refused(2, "check 8x8x8 --kernel nive", {"'nive'", "'naive'"});
    expect(run(3, "check 64x64x64 'f16*f16 64x64x64' --kernel block_f32_64x64 --runs 1 --out unable.txt").out,
           {"right", "f16*f16+f32->f16 64x64x64"});
    CHECK(is_file("unable.txt"));
    CHECK(rows(read("unable.txt")).empty());
    expect(run(3, "check 'f16*f16 64x64x64' --kernel block_f32_64x64 --runs 1 --out -").err,
           {"f16*f16+f32->f16 64x64x64"});
}

TEST_CASE("check: VKGEMM_DISABLED_KERNELS is followed by bench and not by check, so that a row can be lifted") {
    const Folder folder("check_disabled");
    run(0, "check 8x8x8 --kernel naive_f32_8x8 --runs 1 --out result.txt");
    write("wrong.txt", "# by hand\n" + device_of(read("result.txt")) + " | naive_f32_8x8 | by hand\n");
    const Variable disabled("VKGEMM_DISABLED_KERNELS", "wrong.txt");
    expect(run(3, "bench 8x8x8 --kernel naive_f32_8x8 --repeats 1 --quiet").both(), {"naive_f32_8x8", "by hand"});
    run(0, "check 8x8x8 --kernel naive_f32_8x8 --runs 1");
    append("wrong.txt", "naive_f32_8x8\n");
    const Run skipped = run(3, "bench 8x8x8 --kernel naive_f32_8x8 --repeats 1 --quiet");  // line 2 is followed
    expect(skipped.err, {"VKGEMM_DISABLED_KERNELS: wrong.txt: disabled kernels, line 3", "is skipped"});
    const std::string before = read("wrong.txt");
    expect(run(2, "check 9x9x9 --kernel naive_f32_8x8 --runs 1 --out wrong.txt").err, {"wrong.txt", "line 3"});
    CHECK(read("wrong.txt") == before);
}

TEST_CASE("check: a wrong kernel is code 1 and a row; no choice falls on it until a right run lifts the row") {
    const Folder folder("check_wrong");
    expect(run(1, "check 9x9x9 --kernel tiled --runs 2 --inject-fault tiled_f32_8x8 --out injected.txt").out,
           {"tiled_f32_8x8", "1 WRONG", "D[8][8]"});
    const std::string result = read("injected.txt");
    expect(result, {wrong_row});
    CHECK(rows(result).size() == 1);
    {
        const Variable disabled("VKGEMM_DISABLED_KERNELS", "injected.txt");
        const Json others = run(0, "explain 9x9x9 --json -").json()["others"];
        size_t found = 0;
        for (const Json& other : others)
            found += other["kernel"] == "tiled_f32_8x8" && contains(other.dump(), "D[8][8]");
        CHECK(found == 1);
        expect(run(3, "explain 9x9x9 --kernel tiled_f32_8x8").both(), {"tiled_f32_8x8", "D[8][8]"});
    }
    // Rows of kernels that were not tried stay, and so do those of other devices.
    append("injected.txt", "another GPU | tiled_f32_8x8 | by hand\n");
    run(0, "check 9x9x9 --kernel naive_f32_8x8 --runs 1 --out injected.txt");
    CHECK(rows(read("injected.txt")).size() == 2);
    expect(read("injected.txt"), {wrong_row, "another GPU | tiled_f32_8x8 | by hand"});
    // So do those of a kernel whose check was interrupted.
    const Run cut = run_until([] { return contains(read("out.txt"), "llvmpipe"); }, SIGINT,
                              "check 9x9x9 --kernel tiled_f32_8x8 --runs 1000000 --out injected.txt");
    CHECK(cut.code == 130);
    expect(read("injected.txt"), {wrong_row, "another GPU | tiled_f32_8x8 | by hand"});
    run(0, "check 9x9x9 --kernel tiled_f32_8x8 --runs 1 --out injected.txt");
    CHECK(rows(read("injected.txt")) == std::vector<std::string>{"another GPU | tiled_f32_8x8 | by hand"});
}

TEST_CASE("check: a fault is found on the kernel's own problems, and outweighs a file that cannot be written") {
    const Folder folder("check_own");
    run(1, "check --kernel naive_f32_8x8 --runs 1 --inject-fault naive_f32_8x8");
    std::filesystem::create_symlink("/dev/full", "full");
    expect(run(1, "check 9x9x9 --kernel tiled_f32_8x8 --runs 1 --inject-fault tiled_f32_8x8 --out full").err, {"full"});
}

TEST_SUITE_END();
