// SPDX-License-Identifier: MIT
// f64 from products of int8 (accuracy=f64_split): every bit of D, which is the same on every device, and its error.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>
#include <string>

#include "kernels/from_int8_run.h"
#include "kernels/rows.h"
#include "plan/base/concat.h"
#include "vkgemm/hash.hpp"

namespace vkgemm::test::from_int8 {
namespace {

std::string refusal(const std::string& line, uint64_t workspace = uint64_t{1} << 30) {
    const auto parsed = vkgemm::plan::parse_problem(line + " accuracy=f64_split");
    REQUIRE(parsed);
    const auto plan = device().context().createPlan(parsed->problem, {.workspaceLimit = workspace});
    return plan ? "" : plan.status().text;
}

template <class T, size_t n>
T one_of(Random& r, const T (&all)[n]) {
    return all[r.below(n)];
}

/// A small problem with any of what a problem may have, and a run of it.
FromInt8 drawn(Random& r) {
    const uint64_t m = 1 + r.below(r.one_in(4) ? 3 : 24), n = 1 + r.below(r.one_in(4) ? 3 : 24), k = 1 + r.below(150);
    const uint64_t batch = r.one_in(5) ? 2 : 1, widest = std::max({m, n, k});
    std::string out = plan::concat({"f64*f64 ", m, "x", n, "x", k, " layout=", one_of(r, {"nn", "nt", "tn", "tt"})});
    if (r.one_in(2)) out += " layout_d=t";
    if (batch > 1) out += " batch=2";
    for (const char* const ld : {" lda=", " ldb=", " ldd="})
        if (r.one_in(3)) out += ld + std::to_string(widest + r.below(9));
    if (r.one_in(2)) out += " alpha=" + std::string(one_of(r, {"-1", "0.3", "1e-200", "1e300", "0"}));
    if (r.one_in(2))
        out += std::string(one_of(r, {" c=d", " c=separate"})) + " beta=" + one_of(r, {"1", "-0.7", "1e-310", "0"});
    if (r.one_in(2)) out += one_of(r, {" bias=row", " bias=col act=relu", " act=gelu", " scale=col residual act=silu"});
    if (r.one_in(4)) out += one_of(r, {" clamp=-1:2", " leaky=0.125"});
    FromInt8 x;
    x.fill = Values(r.below(uint64_t(Values::special) + 1));
    if (batch == 1 && r.one_in(4)) {
        out += one_of(r, {" packed_a=any", " packed_b=any", " packed_a=any packed_b=any"});
    } else if (r.one_in(4)) {
        out += " upto=mnkb";
        x.sizes = vkgemm::Sizes{1 + r.below(m), 1 + r.below(n), r.below(k + 1), 1 + r.below(batch)};
    }
    x.line = out;
    return x;
}

/// A hash that two devices can be compared by; every NaN counts as the same.
uint64_t with_bits(uint64_t hash, const std::vector<double>& numbers) {
    for (const double x : numbers)
        hash = vkgemm::hashed(hash, std::isnan(x) ? ~uint64_t{0} : std::bit_cast<uint64_t>(x));
    return hash;
}

}  // namespace

TEST_SUITE_BEGIN("from int8");

TEST_CASE("f64_split: every bit, and errors within the bound, however exponents spread") {
    uint64_t seed = seed_or(1);
    for (const Values fill : finite_fills)
        for (const char* const line : {"f64*f64 9x17x200", "f64*f64 20x6x65 layout=tt", "f64*f64 40x50x1"})
            check({.line = line, .fill = fill}, ++seed, true);
}

TEST_CASE("f64_split: products as large as can be found again") {
    check({.line = "f64*f64 20x20x2 layout=nt", .fill = Values::pairs}, seed_or(2), true);
    check({.line = "f64*f64 20x20x64 layout=nt", .fill = Values::pairs}, seed_or(2), true);
}

TEST_CASE("f64_split: the bound is kept where every element loses three quarters of a unit, and nearly reached") {
    const FromInt8 x = {.line = "f64*f64 3x2x7200 layout=nt", .fill = Values::cut};
    const Count count = compare(x, run(x, 1), true);
    CHECK_MESSAGE(count.wrong == 0, count.first);
    CHECK(count.reached > 0.6);
    CHECK(count.reached <= 1);
}

TEST_CASE("f64_split: a bare device gives the same bits") {
    for (const Values fill : {Values::phi_2, Values::subnormal, Values::special})
        check({.line = "f64*f64 9x21x130 alpha=-3 beta=0.7 c=separate", .fill = fill, .context = &bare()}, 7);
}

TEST_CASE("f64_split: infinities and NaN") {
    for (const char* const line : {"f64*f64 24x30x19", "f64*f64 24x30x19 layout=tn layout_d=t", "f64*f64 8x8x1"})
        check({.line = line, .fill = Values::special}, seed_or(3));
}

TEST_CASE("f64_split: layouts, leading dimensions, batches, C and factors") {
    for (const char* const line : {
             "f64*f64 13x9x70 layout=nt lda=77 ldb=91 ldd=10 beta=1",
             "f64*f64 13x9x70 layout=tn layout_d=t alpha=0.1 beta=-0.3 c=separate",
             "f64*f64 13x9x70 alpha=0 beta=0.3 c=d",
             "f64*f64 13x9x70 alpha=1e-320 beta=1e300 c=d",
             "f64*f64 6x7x33 batch=3 stride_b=0",
             "f64*f64 6x7x33 batch=4 ratio_b=2 outer=2 beta=2 c=d",
             "f64*f64 5x4x0 beta=3 c=d",
             "f64*f64 1x40x300",
             "f64*f64 40x1x300 layout=nt",
         })
        check({.line = line}, seed_or(5));
}

TEST_CASE("f64_split: slices of K, and each kernel's edges") {
    for (const char* const line : {"f64*f64 4x4x6000", "f64*f64 70x130x90"}) check({.line = line}, seed_or(9), true);
}

TEST_CASE("f64_split: the sums of each family of int8, by the first of its kernels that takes them") {
    const plan::Problem of_int8 = *plan::complete(plan::parse_problem("i8*i8 8x8x8")->problem);
    std::set<std::string_view> families;
    bool has_int8 = false;  // a device without multiplies remainders as i32, which has one family
    for (const plan::Kernel& k : plan::kernels()) {
        const std::string_view family = k.module.family.name;
        const bool may = k.module.is_product() && !k.module.is_native() && k.module.has_types_of(of_int8) && fits(k);
        has_int8 |= may;
        if (!may || families.contains(family)) continue;
        const std::string kernel(k.name);
        const auto parsed = plan::parse_problem("f64*f64 33x67x90 accuracy=f64_split");
        const vkgemm::PlanOptions options = {.kernel = kernel.c_str(), .workspaceLimit = uint64_t{1} << 30};
        if (!device().context().createPlan(parsed->problem, options)) continue;
        families.insert(family);
        for (const char* const line : {"f64*f64 33x67x90", "f64*f64 64x64x128 layout=tt", "f64*f64 5x6x2000"})
            check({.line = line, .fill = Values::phi_2, .kernel = kernel.c_str()}, seed_or(15));
    }
    for (const std::string family : {"simt", "tiled"}) CHECK_MESSAGE(families.contains(family) == has_int8, family);
}

TEST_CASE("f64_split: operands that come packed, whose bytes serve on every device") {
    for (const Values fill : {Values::phi_2, Values::special})
        for (const char* const line :
             {"f64*f64 13x19x70 packed_b=any", "f64*f64 13x19x70 packed_a=any layout=tt layout_d=t lda=20 beta=1",
              "f64*f64 33x12x130 packed_a=any packed_b=any layout=nt ldb=140",
              "f64*f64 5x6x40 batch=3 stride_b=0 packed_b=any"})
            for (const vkgemm::Context* context : {&device().context(), &bare()})
                check({.line = line, .fill = fill, .context = context}, seed_or(17));
}

TEST_CASE("f64_split: K beyond the limit of its sums is cut into slices that add up in D") {
    for (const char* const line :
         {"f64*f64 2x3x131073", "f64*f64 3x2x262200 layout=tt alpha=0.3 beta=-0.7 c=separate batch=2"})
        check({.line = line, .fill = Values::phi_2}, seed_or(11));
}

TEST_CASE("f64_split: blocks of D where the workspace is small give the same bits") {
    check({.line = "f64*f64 300x40x33 layout=tn beta=1", .workspace = 270'000}, seed_or(13));
    check({.line = "f64*f64 30x500x33 layout_d=t batch=2", .workspace = 400'000}, seed_or(13));
}

TEST_CASE("f64_split: sizes that vary from run to run, batches and steps of the epilogue among them") {
    struct Line {
        const char* line;
        std::vector<vkgemm::Sizes> sizes;
    };
    const Line lines[] = {
        {"f64*f64 40x50x300 batch=3 upto=mnkb", {{40, 50, 300, 3}, {7, 9, 33, 2}, {1, 50, 64, 1}, {16, 16, 0, 3}}},
        {"f64*f64 33x70x200 layout=tn layout_d=t upto=mk alpha=-2 beta=0.5 c=separate", {{33, 70, 200}, {2, 70, 1}}},
        {"f64*f64 90x64x128 upto=m bias=col act=relu residual", {{64, 64, 128}, {90, 64, 128}, {5, 64, 128}}},
        {"f64*f64 40x13x70 packed_b=any upto=m", {{40, 13, 70}, {3, 13, 70}}},
        {"f64*f64 24x16x100 batch=4 ratio_b=2 outer=2 upto=kb", {{24, 16, 100, 4}, {24, 16, 7, 2}}},
        {"f64*f64 4x4x6000 upto=k beta=1", {{4, 4, 6000}, {4, 4, 3100}, {4, 4, 65}}},
        {"f64*f64 5x6x70 upto=b", {{5, 6, 70, 1}}},
    };
    for (const Values fill : {Values::phi_2, Values::special})
        for (const Line& x : lines)
            for (const vkgemm::Sizes& sizes : x.sizes)
                check({.line = x.line, .fill = fill, .sizes = sizes}, seed_or(31));
    VkgemmRunStrides strides{};
    strides.lda = 35;
    strides.ldd = 9;
    strides.batchStrideB = VKGEMM_BROADCAST;
    check({.line = "f64*f64 20x30x90 batch=2 upto=mnkbs", .sizes = vkgemm::Sizes{6, 7, 33, 2}, .strides = strides},
          seed_or(32));
    check({.line = "f64*f64 9x21x130 upto=mnk alpha=-3", .context = &bare(), .sizes = vkgemm::Sizes{5, 20, 64}}, 33);
}

TEST_CASE("f64_split: an epilogue, each step of which is rounded") {
    for (const Values fill : {Values::phi_1, Values::any, Values::special})
        for (const char* const line : {
                 "f64*f64 13x19x40 bias=row scale=col act=relu residual",
                 "f64*f64 13x19x40 layout=tt layout_d=t ldd=17 alpha=0.3 beta=-2 c=separate bias=col act=gelu",
                 "f64*f64 13x19x40 scale=all act=silu gate=gelu alpha=-3",
                 "f64*f64 13x19x40 leaky=0.3 clamp=row gate=silu",
                 "f64*f64 13x19x40 clamp=-0.25:inf leaky=-1e-40 act=drelu",
                 "f64*f64 13x19x40 layout_d=t clamp=col bias=row gate=relu",
                 "f64*f64 13x19x40 bias=row leaky=0 clamp=-3:-0.5 beta=1 c=d alpha=0",
             })
            check({.line = line, .fill = fill}, seed_or(19));
    for (const vkgemm::plan::StepInfo& step : vkgemm::plan::step_info) {
        const std::string numbers = step.has_bounds() ? "-0.5:0.75" : step.has_slope() ? "-0.3" : "";
        const std::string line = "f64*f64 13x19x40 layout_d=t " + std::string(step.text) + numbers;
        if (step.operand == VKGEMM_SLOT_COUNT) check({.line = line, .fill = Values::phi_1}, seed_or(20));
    }
}

TEST_CASE("f64_split: an epilogue with a residual that is D, a batch, packed operands, blocks, slices and no K") {
    check({.line = "f64*f64 9x21x70 residual act=relu", .fill = Values::special, .residual_is_d = true}, seed_or(21));
    check({.line = "f64*f64 9x21x0 bias=col act=silu beta=3 c=d"}, seed_or(22));
    check({.line = "f64*f64 6x7x33 batch=4 ratio_b=2 outer=2 bias=row residual layout_d=t"}, seed_or(23));
    check({.line = "f64*f64 13x19x70 packed_a=any packed_b=any bias=col clamp=-1:1"}, seed_or(24));
    check({.line = "f64*f64 300x40x33 layout=tn beta=1 bias=row scale=col", .workspace = 380'000}, seed_or(25));
    check({.line = "f64*f64 2x3x131073 bias=row act=gelu"}, seed_or(26));
    check({.line = "f64*f64 9x21x130 alpha=-3 act=gelu bias=col", .fill = Values::phi_2, .context = &bare()}, 27);
}

void compare_drawn(bool wide) {
    const uint64_t seed = seed_or(29), problems = everything() ? 4000 : is_quick() ? 12 : 100;
    Random random(seed);
    Count all;
    uint64_t given = vkgemm::emptyHash, made = given;
    for (uint64_t i = 0; i < problems; ++i) {
        FromInt8 x = drawn(random);
        x.wide = wide;
        const Run done = run(x, seed + i);
        const Count one = compare(x, done, false);
        CHECK_MESSAGE(one.wrong == 0, one.wrong, " wrong elements of D: ", one.first);
        all.elements += one.elements;
        all.wrong += one.wrong;
        given = with_bits(with_bits(given, done.a), done.b);
        made = with_bits(made, done.d);
    }
    MESSAGE(problems, " problems, ", all.elements, " elements of D, ", all.wrong, " wrong; hash of A and B ",
            vkgemm::hashText(given), ", of D ", vkgemm::hashText(made));
}
TEST_CASE("f64_split: drawn problems have the bits of exact arithmetic, and so the same on every device") {
    compare_drawn(false);
}
TEST_CASE("f64_split_wide: drawn problems have the bits of exact arithmetic, and so the same on every device") {
    compare_drawn(true);
}

TEST_CASE("f64_split_wide: every bit, and errors within its bound") {
    uint64_t seed = seed_or(41);
    for (const Values fill : finite_fills)
        for (const char* const line : {"f64*f64 9x17x200", "f64*f64 20x6x65 layout=tt", "f64*f64 40x50x1"})
            check({.line = line, .fill = fill, .wide = true}, ++seed, true);
    check({.line = "f64*f64 20x20x2 layout=nt", .fill = Values::pairs, .wide = true}, seed_or(42), true);
}

TEST_CASE("f64_split_wide: products of i32, what comes packed, slices of K, blocks, sizes that vary, an epilogue") {
    for (const Values fill : {Values::phi_4, Values::special}) {
        check({.line = "f64*f64 9x21x130 alpha=-3 beta=0.7 c=separate", .fill = fill, .context = &bare(), .wide = true},
              7);
        check({.line = "f64*f64 33x12x130 packed_a=any packed_b=any layout=nt ldb=140", .fill = fill, .wide = true},
              43);
        check({.line = "f64*f64 4x4x6000 batch=2 layout_d=t", .fill = fill, .wide = true}, 44);
        check({.line = "f64*f64 13x19x40 bias=row scale=col act=gelu", .fill = fill, .wide = true}, 45);
        check({.line = "f64*f64 40x50x300 upto=mnk", .fill = fill, .wide = true, .sizes = vkgemm::Sizes{7, 9, 33}}, 46);
    }
    check({.line = "f64*f64 2x3x131073", .fill = Values::phi_4, .wide = true}, seed_or(47));
    check({.line = "f64*f64 300x40x33 layout=tn", .workspace = 270'000, .wide = true}, seed_or(48));
}

TEST_CASE("f64_split: what it cannot do is refused with the limit") {
    CHECK(refusal("f64*f64 4x4x131073 invariant") ==
          "k is 131073, above the limit of 131072 for accuracy=f64_split with batchInvariant; compute it as several "
          "products of a smaller k, each later one with beta 1");
    CHECK(refusal("f32*f32 4x4x4").find("is for f64 throughout, not for f32") != std::string::npos);
    CHECK(refusal("f64*f64 4x4x4 pair=relu").find("second has a gate") != std::string::npos);
    CHECK(refusal("f64*f64 4x4x131073 residual") ==
          "k is 131073, above the limit of 131072 for accuracy=f64_split with residual, which reads a residual; apply "
          "it in another pass");
    CHECK(refusal("f64*f64 4x4x131073 upto=m").find("sizes that vary (upTo)") != std::string::npos);
    CHECK(refusal("f64*f64 64x64x64 upto=k", 1000).find("bytes; workspaceLimit is 1000: raise it") !=
          std::string::npos);
    CHECK(refusal("f64*f64 4x4x131073 packed_b=any").find("comes packed") != std::string::npos);
    CHECK(refusal("f64*f64 4x4x4 packed_b=0123456789abcdef").find("packed for another layout") != std::string::npos);
    CHECK(refusal("f64*f64 64x64x64", 1000).find("needs a workspace of ") != std::string::npos);
    CHECK(refusal("f64*f64 4x4x4 groups=table").find("not for groups") != std::string::npos);
}

}  // namespace vkgemm::test::from_int8
