// SPDX-License-Identifier: MIT
// Batches of two levels with ratios on the device: each line through buffers with descriptors, buffers by address, and
// addresses, with offsets that are and are not multiples of 16 bytes.
#include <doctest/doctest.h>

#include <algorithm>

#include "kernels/rows.h"
#include "kernels/run.h"
#include "kernels/tally.h"

using namespace vkgemm::test;

namespace {

void check_all_ways(const char* kernel, const std::string& line, const char* tile = "") {
    for (const uint32_t shift : {0u, 1u})
        for (const int way : {0, 1, 2}) {
            if (skips_way()) continue;
            Case x = case_of(kernel, line);
            x.tile = tile;
            x.shift = shift;
            x.addresses = way == 1;
            x.invocations = way == 2 ? as_on_a_gpu : 0;
            CHECK_MESSAGE(is_planned(x), line, " has no plan");
            CHECK(run(x) == "");
        }
}

}  // namespace

TEST_CASE("levels: grouped-query attention, 32 heads over 8") {
    for (const char* line : {
             "7x9x16 batch=32 ratio_b=4 layout=nt",  // queries and keys: 4 heads are one tall product
             "7x16x9 batch=32 ratio_b=4",            // weights and values
             "1x37x16 batch=32 ratio_b=4 layout=nt",
             "37x1x16 batch=32 ratio_a=4",  // the same transposed
             // [token][head][element]: heads side by side, and a second level of sequences
             "7x9x16 batch=32 ratio_b=4 layout=nt lda=512 stride_a=16 ldb=128 stride_b=16 outer=2",
             "7x16x9 batch=32 ratio_b=4 ldb=128 stride_b=16 ldd=512 stride_d=16 outer=2",
         }) {
        check_all_ways("", line);
        check_all_ways("tiled_f32_8x8", line);
    }
}

TEST_CASE("levels: a B whose blocks are no whole words begins in the middle of one") {
    for (const char* line : {"f32*q6_k 2x3x256 batch=3 outer=2 layout=nt stride_a=1100 stride_b=0 outer_stride_a=550",
                             "f32*mxfp4 2x3x64 batch=3 outer=2 layout=nt stride_a=400 stride_b=0 outer_stride_a=200",
                             "f32*mxfp4 2x3x64 batch=6 outer=2 ratio_b=2 layout=nt ldb=192 outer_stride_b=64"})
        for (const char* kernel : {"gemv_blocks_f32_1x8", "gemv_blocks_f32_2x16", "gemv_mixed_f32_4x8"})
            for (const int way : {0, 1, 2}) {
                if (skips_way()) continue;
                Case x = case_of(kernel, line);
                x.addresses = way == 1;
                x.invocations = way == 2 ? as_on_a_gpu : 0;
                CHECK_MESSAGE(is_planned(x), line, " has no plan");
                CHECK(run(x) == "");
            }
}

TEST_CASE("levels: ratios, strides in any order, shared and separate operands, C and residual") {
    for (const char* line : {
             "9x13x8 batch=6 outer=4 ratio_b=2 outer_ratio_a=2 beta=2",
             "9x13x8 batch=6 outer=4 ratio_a=3 outer_ratio_a=2 beta=2 c=separate residual",
             "9x13x8 batch=3 outer=4 stride_d=480 outer_stride_d=120 stride_a=300 outer_stride_a=75 residual",
             "9x13x8 batch=3 outer=4 ldd=156 stride_d=13 outer_stride_d=39 beta=-1 c=separate stride_c=0",
             "9x13x8 batch=3 outer=4 ldd=156 stride_d=52 outer_stride_d=13 c=d beta=3 layout=tt",
             "9x13x8 batch=3 outer=4 outer_stride_a=0 bias=row scale=col",
             "9x13x8 batch=3 outer=4 stride_b=0 bias=row act=relu",
             "9x13x8 batch=3 outer=4 stride_a=0 outer_stride_b=0 bias=col layout_d=t",
             "9x13x8 batch=3 outer=4 stride_a=0 outer_stride_a=0 stride_b=0 c=separate beta=1 outer_stride_c=0",
             "8x16x8 batch=4 outer=3 outer_stride_a=261 outer_stride_d=521",  // steps that miss 16 bytes
             "9x13x8 batch=6 ratio_b=2 upto=mnk",
             "9x13x0 batch=6 outer=2 ratio_b=2 outer_stride_a=0 beta=2",
         })
        check_all_ways("", line);
    for (const char* line : {"9x13x8 batch=6 outer=4 ratio_b=2 outer_stride_a=600 bias=row upto=mn"}) {
        Case x = case_of("", line);
        for (const vkgemm::plan::Sizes& sizes : {vkgemm::plan::Sizes{.m = 9, .n = 13, .k = 8, .batch = 6},
                                                 {.m = 5, .n = 4, .k = 8, .batch = 6},
                                                 {.m = 1, .n = 13, .k = 8, .batch = 6},
                                                 {.m = 0, .n = 3, .k = 8, .batch = 6}}) {
            x.sizes = sizes;
            CHECK(run(x) == "");
            x.invocations = as_on_a_gpu;
            CHECK(run(x) == "");
        }
    }
}

TEST_CASE("levels: the number of sequences varies, whose heads share keys") {
    for (const char* line : {
             "7x9x16 batch=32 ratio_b=4 upto=b layout=nt",  // all heads of all sequences on one level
             "1x37x16 batch=32 ratio_b=4 upto=bn layout=nt",
             "7x9x16 batch=24 ratio_a=3 upto=mbk bias=row c=separate beta=2",
             // [sequence][token][head][element]: the heads are the outer level
             "7x9x16 batch=5 outer=8 outer_ratio_b=4 layout=nt lda=128 stride_a=896 outer_stride_a=16 ldb=32 "
             "stride_b=288 outer_stride_b=16 upto=b",
             "7x9x16 batch=4 outer=4 ratio_b=2 outer_ratio_a=2 upto=mnb layout_d=t bias=col residual",
             "7x9x16 batch=4 ratio_b=4 upto=bs",
             "7x24x32 batch=8 outer=2 ratio_b=2 upto=bs layout=nt",
         })
        for (const char* tile : {"", "SPLIT=3"})
            for (const uint64_t part : {0u, 1u, 2u, 3u, 4u}) {
                Case x = case_of(*tile ? "tiled_f32_8x8" : "", line);
                x.tile = tile;
                const uint64_t sharing = std::max({x.problem.ratioA, x.problem.ratioB, uint64_t{1}});
                vkgemm::plan::Sizes sizes = vkgemm::plan::sizes_of(x.problem);
                sizes.batch = x.problem.batch / sharing * part / 4 * sharing;
                if (x.problem.upTo & VKGEMM_UP_TO_M) sizes.m = 1 + part;
                x.sizes = sizes;
                CHECK_MESSAGE(is_planned(x), line, " has no plan");
                for (const uint32_t invocations : {0u, as_on_a_gpu}) {
                    x.invocations = invocations;
                    CHECK_MESSAGE(run(x) == "", line, ", batch ", sizes.batch);
                }
            }
}

TEST_CASE("levels: repetitions share one workspace, and packed operands") {
    const char* const line = "9x13x130 batch=4 outer=3 outer_stride_b=0 bias=row c=d beta=2";
    for (const char* tile : {"SPLIT=3", "SPLIT=2,PACK=4", "PACK=2", "SPLIT=1,PACK=3"})
        check_all_ways("tiled_f32_8x8", line, tile);
    check_all_ways("", "9x13x16 batch=4 outer=3 outer_stride_a=2000 outer_stride_b=0 packed_b=any");
    check_all_ways("", "9x13x16 batch=4 outer=3 packed_a=any packed_b=any");
}

TEST_CASE("levels: types of other sizes, mixed ones and block formats") {
    size_t turn = 0;
    for (const char* line : {
             "f16*f16 9x13x7 batch=4 ratio_b=2 outer=3 outer_stride_a=301",
             "i8*i8 9x13x7 batch=4 ratio_a=2 outer=3 outer_stride_b=401 bias=row",
             "f64*f64 9x13x7 batch=4 ratio_b=2 outer=3 outer_stride_a=301",
         }) {
        Case x = case_of("", line);
        if (is_planned(x)) check_all_ways("", line);
    }
    for (
        const char* line : {
            "f32*f16 9x13x7 batch=4 ratio_b=2 outer=3 outer_stride_a=301 bias=row",
            "i8*f16->f32 9x13x7 batch=4 ratio_a=2 outer=3 outer_stride_a=127 outer_stride_b=403",  // steps of odd bytes
            "f16*q8_0->f32 9x13x64 layout=nt batch=4 ratio_b=2 outer=3 outer_stride_a=2401 bias=row",
            "f32*q4_0 1x13x64 layout=nt batch=4 outer=3 outer_stride_b=0 bias=row",
            "f32*q4_0 1x13x64 layout=nt batch=2 outer=3 outer_stride_b=2080 bias=row",  // an odd number of blocks
        })
        for (const uint32_t invocations : {0u, as_on_a_gpu}) {
            if (++turn / 2 % 2 && is_quick()) continue;  // each line in one of both ways
            Case x = case_of("", line);
            x.invocations = invocations;
            CHECK(is_planned(x));
            CHECK(run(x) == "");
        }
}
