// SPDX-License-Identifier: MIT
// Operands larger than one dispatch reaches, on devices where that is little: the products are cut into parts.
#include <doctest/doctest.h>

#include <algorithm>

#include "kernels/rows.h"
#include "kernels/run.h"
#include "kernels/tally.h"
#include "support/random.h"

using namespace vkgemm::test;

namespace {

/// As buffers by address, as addresses, and as buffers with descriptors, which reach less of wide types.
void check_all_ways(const std::string& line, uint32_t reach) {
    for (const int way : {0, 1, 2}) {
        if (skips_way()) continue;
        Case x = case_of("", line);
        x.reach = reach;
        x.addresses = way == 1;
        x.invocations = way == 2 ? as_on_a_gpu : 0;
        x.shift = way == 1 && line.find("_type=") == std::string::npos ? 1 : 0;
        CHECK_MESSAGE(is_planned(x), line, " has no plan");
        CHECK(run(x) == "");
    }
}

}  // namespace

TEST_CASE("parts: rows, columns, K and products are cut, in every layout") {
    for (const char* layout : {"nn", "nt", "tn", "tt"})
        for (const char* rest : {"", "layout_d=t", "beta=2", "c=separate beta=-1 layout_c=t", "c=d beta=3 bias=row"})
            for (const char* size : {"130x67x43", "67x130x43", "43x67x130"})
                check_all_ways(std::string(size) + " layout=" + layout + " " + rest, 4000);
    check_all_ways("33x34x35 batch=7", 3000);
    check_all_ways("33x34x35 batch=7 stride_b=0 bias=col act=relu", 3000);
    check_all_ways("33x34x35 batch=5 outer=3 outer_stride_a=6000 ratio_b=5 beta=2", 2500);
    check_all_ways("130x67x43 lda=50 ldb=71 ldd=70", 4000);
    check_all_ways("3x1400x7", 1500);
    check_all_ways("1400x3x7 layout=tn", 1500);
    check_all_ways("128x128x64", 5000);
}

TEST_CASE("parts: steps of the epilogue move with them") {
    for (const char* steps : {"bias=row scale=col", "bias=col scale=row", "scale=all act=relu", "residual clamp=-9:9"})
        for (const char* layout : {"layout=nn", "layout=tn layout_d=t"})
            check_all_ways(std::string("97x99x21 ") + layout + " beta=2 " + steps, 3000);
    check_all_ways("43x67x130 bias=row scale=col clamp=-50:50 beta=2", 4000);  // K is cut: once, at the end
    check_all_ways("97x99x21 bias=row scale=col bias_type=f16 scale_type=bf16 residual residual_type=f16", 3000);
    check_all_ways("97x99x22 scalars=alpha,beta,clamp,monitor beta=2 alpha=3 clamp=-9:9 bias=col", 3000);
    check_all_ways("43x67x130 scalars=alpha,beta,clamp,monitor beta=2 alpha=3 clamp=-9:9 c=separate", 4000);
}

TEST_CASE("parts: schedules with a workspace, and types") {
    for (const char* tile : {"SPLIT=3", "PACK=4", "SPLIT=2,PACK=4", "PACK=1"}) {
        for (const char* line : {"97x99x40 beta=2", "43x67x130 beta=2"}) {
            Case x = case_of("tiled_f32_8x8", line);
            x.reach = 3000;
            x.tile = tile;
            if (!skips_way()) CHECK(run(x) == "");
            x.addresses = true;
            if (!skips_way()) CHECK(run(x) == "");
        }
    }
    for (const char* line :
         {"f16*f16 97x99x21 beta=2", "f16*f16->f32 43x67x130 beta=2", "i8*i8 43x67x130 beta=2",
          "i8*i8->f16 97x99x21 scale=col", "f64*f64 43x67x130", "i32*i32 97x99x21", "bf16*bf16 97x99x22 bias=row",
          "f32*f16 97x99x21 bias=row", "i8*f16->f32 43x67x132", "f16*q8_0->f32 97x99x64 layout=nt"}) {
        Case x = case_of("", line);
        x.reach = 4000;
        if (is_planned(x) && !skips_way()) CHECK(run(x) == "");
        x.invocations = as_on_a_gpu;
        if (is_planned(x) && !skips_way()) CHECK(run(x) == "");
    }
}

TEST_CASE("parts: random problems") {
    Random random(7);
    int planned = 0;
    const int problems = is_quick() ? 15 : 60;
    for (int i = 0; i < problems; ++i) {
        Case x = case_of("", "f32*f32 1x1x1");
        auto& p = x.problem;
        p.m = 1 + random.below(150);
        p.n = 1 + random.below(150);
        p.k = 1 + random.below(100);
        p.batch = 1 + random.below(4);
        for (auto* m : {&p.a, &p.b, &p.d})
            if (random.one_in(2)) m->layout = vkgemm::columnMajor;
        p.cSource = static_cast<VkgemmC>(random.below(3));
        x.beta = p.cSource == VKGEMM_C_NONE ? 0 : 2;
        x.alpha = 3;
        if (random.one_in(2)) p.epilogue.add({random.one_in(2) ? VKGEMM_STEP_BIAS_ROW : VKGEMM_STEP_BIAS_COL});
        if (random.one_in(4)) p.epilogue.add({random.one_in(2) ? VKGEMM_STEP_RESIDUAL : VKGEMM_STEP_DRELU});
        x.reach = static_cast<uint32_t>(2000 + 1000 * random.below(4));
        x.invocations = random.one_in(2) ? as_on_a_gpu : 0;
        x.seed = static_cast<uint64_t>(i) + 1;
        if (!is_planned(x)) continue;
        ++planned;
        CHECK(run(x) == "");
    }
    CHECK(3 * planned > 2 * problems);
}
