// SPDX-License-Identifier: MIT
// The sizes of the classic texts, and grids beyond one axis.
#include <doctest/doctest.h>

#include <set>

#include "kernels/tally.h"
#include "plan/kernels/kernels.h"

using namespace vkgemm::test;
using vkgemm::plan::find_kernel;
using vkgemm::plan::Kernel;

namespace {

bool can_run(std::string_view name) {
    const Kernel* kernel = find_kernel(name);
    REQUIRE_MESSAGE(kernel, "no row named ", name);
    return fits(*kernel);
}

}  // namespace

TEST_CASE("seeds: 256 x 256 x 256 on the vector kernels, several blocks an invocation") {
    Tally tally("256^3");
    for (const char* name : {"vec4_f32_64x64", "vec4_f32_128x64", "vec4_f32_64x128", "vec4_f32_128x128"}) {
        if (!can_run(name)) continue;
        Case x = case_of(name, "256x256x256");
        x.samples = 4000;
        tally(x);
    }
}

TEST_CASE("slow, whole size: 1600 x 1600 x 1007 of integers, rectangle tiles against square ones, element by element") {
    const Case square = case_of("tiled_i32_16x16", "i32*i32 1600x1600x1007");
    if (!can_run(square.kernel)) return;
    const std::vector<double> want = result(square);
    CHECK(want.size() == 1600 * 1600);
    for (const char* name : {"tiled_i32_8x8x32", "tiled_i32_16x16x64"}) {
        Case rectangle = square;
        rectangle.kernel = name;
        if (!can_run(name)) continue;
        const std::vector<double> got = result(rectangle);
        REQUIRE(got.size() == want.size());
        size_t different = 0;
        for (size_t i = 0; i < want.size(); ++i) different += got[i] != want[i];
        CHECK_MESSAGE(different == 0, name, ": ", different, " elements differ");
    }
    Case sampled = square;
    sampled.samples = 2000;
    Tally("1600x1600x1007")(sampled);
}

TEST_CASE("slow, whole size: 2048 x 2048 x 2048, a product of each family") {
    std::set<std::string> families = {"naive"};  // which would take as long as all the others together
    for_each_tile([&](const Kernel& kernel, Tally& tally) {
        if (!families.insert(variant_of(kernel.module)).second) return tally.none();
        Case x = case_for(kernel, 2048, 2048, 2048);
        if (refused(x)) x.problem.n = 16;
        x.samples = 2000;
        x.fill = Fill::random;
        tally(x);
    });
}

TEST_CASE("slow: sums of 2048 products, every tile") {
    for_each_tile([&](const Kernel& kernel, Tally& tally) {
        Case x = odd_case(kernel);
        x.problem.k = 2048;
        tally(x);
        x.fill = Fill::random;
        tally(x);
    });
}

TEST_CASE("more work groups than one axis holds") {
    Tally tally("groups");
    for (const char* name : {"naive_f32_8x8", "tiled_f32_8x8"}) {  // 8 x 8 tiles: 2 x 33,000 of them
        Case x = case_of(name, "16x16x3 batch=16500");
        x.samples = 20000;
        tally(x);
        if (is_quick()) continue;
        x = case_of(name, "16x16x3 batch=16500 beta=1");  // groups past the last tile must not add to D once more
        x.samples = 20000;
        tally(x);
        x = case_of(name, "524297x2x2");  // 65,538 tiles high, three more than an axis holds
        x.samples = 20000;
        tally(x);
    }
    Case flat = case_of("naive_f32_8x8", "1x1048576x1");  // a band of 4096 rows would be 2^32 tiles
    flat.tile = "WG=1,BM=1,BN=1,RASTER=4096";
    flat.samples = 20000;
    tally(flat);
}
