// SPDX-License-Identifier: MIT
// Matrix shapes and subgroups that no row has: a kernel takes them with a tile of its caller's.
#include <doctest/doctest.h>

#include "kernels/emulated.h"
#include "kernels/tally.h"

using namespace vkgemm::test;
using vkgemm::columnMajor;
using vkgemm::rowMajor;

TEST_SUITE_BEGIN("rows");

TEST_CASE("matrix shapes of no row: 16x8x16, 8x8x8 in subgroups of 32, subgroups of 64") {
    if (emulated_device() != "others") return;  // which no driver here is
    const vkgemm::plan::Kernel* const kernel = vkgemm::plan::find_kernel("coopmat_f16_64x64x32");
    REQUIRE(kernel);
    for (const std::string tile : {"WG=64,BK=32,MM=16,MN=8,MK=16,SG=32", "WG=64,BK=16,MM=8,MN=8,MK=8,SG=32",
                                   "WG=128,BK=32,MM=16,MN=16,MK=16,SG=64"}) {
        Tally tally(tile);
        uint64_t seed = 0;
        for (const char* stages : {"1", "2", "3"})
            for (const auto a : {rowMajor, columnMajor})
                for (const auto b : {rowMajor, columnMajor}) {
                    Case x = case_for(*kernel, 67, 37, 67);
                    x.problem.a.layout = a;
                    x.problem.b.layout = b;
                    x.tile = tile + ",BM=32,BN=32,WM=16,WN=32,STAGES=" + stages;
                    x.seed = ++seed;
                    tally(x);
                }
    }
}

TEST_CASE("fragments of two chunks an invocation, by the device's own matrix units") {
    if (emulated_device() != "deeper") return;
    for (const char* const name : {"coopmat_packed_f16_64x64_8x8x16", "coopmat_packed_f16_f32_64x64_8x8x16"}) {
        const vkgemm::plan::Kernel* const kernel = vkgemm::plan::find_kernel(name);
        REQUIRE(kernel);
        Tally tally(name);
        uint64_t seed = 0;
        for (const char* tile :
             {"WG=32,BM=32,BN=32,WM=16,WN=16,STAGES=3", "WG=32,BM=32,BN=32,WM=16,WN=16,STAGES=0",
              "WG=16,BM=16,BN=16,BK=64,WM=16,WN=16,STAGES=3", "WG=32,BM=48,BN=48,WM=24,WN=24,STAGES=3,SPLIT=1"})
            for (const auto a : {rowMajor, columnMajor})
                for (const auto b : {rowMajor, columnMajor}) {
                    Case x = case_for(*kernel, 67, 37, 131);
                    x.problem.a.layout = a;
                    x.problem.b.layout = b;
                    x.tile = tile;
                    x.seed = ++seed;
                    tally(x);
                }
    }
}

TEST_SUITE_END();
