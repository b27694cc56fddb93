// SPDX-License-Identifier: MIT
// Proof by execution, on a device: the classic kernels touch what they must and nothing else, a injected fault is
// found.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>

#include "support/device.h"
#include "support/string_util.h"
#include "tools/vkgemm/trace/coverage.h"

namespace vkgemm::tool {
std::vector<TracedModule> injected_a(), injected_b(), injected_d(), injected_store(), injected_swap();
}  // namespace vkgemm::tool

using namespace vkgemm;
using namespace vkgemm::tool;
using test::device;
using test::has_words;

namespace {

Coverage covered(const std::string& problem, const std::string& kernel, const std::vector<TracedModule>& modules,
                 Trace* out = nullptr) {
    const auto c = parse_case(problem);
    REQUIRE(c);
    const auto t = trace(device(), *c, kernel, "", modules);
    REQUIRE_MESSAGE(bool(t), kernel, ", ", problem, ": ", t.status().text);
    if (out) *out = *t;
    return coverage_of(*t);
}

void no_fault(const std::string& problem, const std::string& kernel) {
    const Coverage c = covered(problem, kernel, traced_modules());
    for (const std::string& fault : c.faults) FAIL_CHECK(kernel, ", ", problem, ": ", fault);
}

/// Most of the time compiles traced kernels, so a quick run has fewer.
bool is_quick() { return std::getenv("VKGEMM_TESTS_QUICK") != nullptr; }

/// Every kernel of a family whose A has this type; in a quick run the first two.
std::vector<std::string> of_family(const std::string& family, vkgemm::Type type) {
    std::vector<std::string> out;
    for (const tool::Kernel& k : all_kernels())
        if (k.family() == family && k.info.a == type && k.info.built) out.push_back(k.name());
    if (is_quick() && out.size() > 2) out.resize(2);
    return out;
}

}  // namespace

TEST_CASE("cover: the classic kernels touch every element as their tiles say, and nothing else") {
    for (const char* family : {"naive", "tiled", "vec4", "block"})
        for (const std::string& kernel : of_family(family, vkgemm::f32)) {
            no_fault("128x192x64", kernel);
            no_fault("65x66x67 layout=tn beta=1 lda=70 ldd=71", kernel);
            no_fault("33x17x40 batch=2 layout=nt layout_d=t c=separate beta=0.5 bias=col", kernel);
        }
    for (const char* family : {"naive", "tiled"})
        for (const std::string& kernel : of_family(family, vkgemm::i32)) no_fault("i32*i32 100x100x63", kernel);
}

TEST_CASE("cover: so do the families that read through the same accessors") {
    no_fault("130x70x33", "simt_f32_32x32x16");
    no_fault("128x64x32", "simt_f32_32x64x8");
    no_fault("1x256x256", "gemv_f32_1x64");
    no_fault("1x256x256 alpha=0", "gemv_f32_1x64");  // nobody has a k
    no_fault("1x64x64", "gemv_f32_1x8");             // whole subgroups have none
    no_fault("16x1x64", "gemv_f32_16x1");
    no_fault("70x65x33", "cpu_f32_32x32");
    no_fault("f16*f16 40x24x32", "tiled_f16_8x8");
    no_fault("f64*f64 40x36x20", "simt_f64_32x32x8");
    no_fault("f64*f64 40x4x64", "gemv_f64_16x1");
}

TEST_CASE("cover: nothing is read that is multiplied by 0, and all else that D is made of") {
    for (const char* kernel : {"naive_f32_8x8", "tiled_f32_16x16", "vec4_f32_64x64", "block_f32_64x64",
                               "simt_f32_32x32x16", "cpu_f32_32x32"}) {
        no_fault("65x64x33 alpha=0 beta=1", kernel);
        no_fault("64x65x64 beta=0 c=separate", kernel);
        if (is_quick()) continue;
        no_fault("64x64x64 alpha=0 beta=1 c=separate", kernel);
        no_fault("64x65x63 beta=-3 scale=row bias=col residual", kernel);
    }
    Trace t;
    covered("64x64x64 alpha=0 beta=1", "naive_f32_8x8", traced_modules(), &t);
    CHECK(t.k == 0);
}

TEST_CASE("cover: the traffic of whole tiles is that of the formula, and a step is BK deep") {
    Trace t;
    const Coverage c = covered("256x128x64", "block_f32_64x64", traced_modules(), &t);
    CHECK(static_cast<double>(c.read) == c.formula);
    CHECK(t.groups == 8);
    REQUIRE(c.sets.size() == 3);
    CHECK(c.sets[0].one_step == "64·(0~63) + (0~7)");  // lda 64, BM 64, BK 8
    CHECK(c.sets[1].one_step == "128·(0~7) + (0~63)");
    CHECK((c.sets[0].steps == 8 && c.sets[0].stride == 8 && c.sets[0].repeats == 1));
    CHECK(c.sets[2].all == "128·(0~63) + (0~63)");
}

TEST_CASE("cover: a injected index fault is found, in each operand") {
    const auto faults = [](const std::vector<TracedModule>& modules) {
        std::string all;
        for (const std::string& fault : covered("128x128x64", "block_f32_64x64", modules).faults) all += fault + "\n";
        return all;
    };
    CHECK(faults(traced_modules()).empty());
    CHECK(has_words(faults(injected_d()), "D[0][20]", "D[0][24]"));
    CHECK(has_words(faults(injected_a()), "A[0][28]", "3 more"));
    CHECK(has_words(faults(injected_b()), "8192 elements", "B[0][12]"));
}

TEST_CASE("cover: what the library's own kernel gets wrong, too, is found by the numbers of D") {
    Trace t;
    covered("128x128x64", "block_f32_64x64", injected_swap(), &t);
    t.untraced = t.traced;
    const Coverage c = coverage_of(t);
    REQUIRE(c.faults.size() == 1);
    CHECK(has_words(c.faults[0], "D[0][2"));
}

TEST_CASE("cover: a store outside D is counted, and changes nothing of D") {
    Trace t;
    const Coverage c = covered("128x128x64", "block_f32_64x64", injected_store(), &t);
    CHECK(c.touched.back().outside == 1);
    constexpr size_t from = 20 * 4, to = 24 * 4;  // bytes of what was not written
    for (size_t i = 0; i < t.traced.size(); ++i)
        if (i < from || i >= to) REQUIRE_MESSAGE(t.traced[i] == t.untraced[i], "byte ", i);
    CHECK(!std::equal(&t.traced[from], &t.traced[to], &t.untraced[from]));
}

TEST_CASE("cover: refusals say what is wrong") {
    const auto why = [](const std::string& problem, const std::string& kernel) {
        return trace(device(), *parse_case(problem), kernel, "", traced_modules()).status();
    };
    CHECK(has_words(why("0x8x8", "block_f32_64x64").text, "nothing to trace"));
    CHECK(has_words(why("i32*i32 8x8x8", "block_f32_64x64").text, "multiplies f32*f32"));
    CHECK(trace(device(), *parse_case("64x64x64"), "block_f32_64x64", "BM=60", traced_modules()).status().code ==
          VKGEMM_ERROR_TILE);
    CHECK(why("8x8x8", "pack_32_64x64").code < 0);
    CHECK(why("16384x16384x64", "block_f32_64x64").code == VKGEMM_ERROR_LIMIT);
    CHECK(has_words(trace(device(), *parse_case("8x8x8"), "naive_f32_8x8", "", {}).status().text, "no traced module"));
}

TEST_CASE("slow: cover: the sizes of the classic texts") {
    for (const std::string& kernel : of_family("block", vkgemm::f32)) no_fault("2048x2048x2048", kernel);
    no_fault("2048x2048x2048", "vec4_f32_64x64");
    no_fault("2048x2048x2048", "tiled_f32_32x32");
    no_fault("i32*i32 1600x1600x1007", "tiled_i32_16x16x64");
    no_fault("i32*i32 1600x1600x1007", "tiled_i32_16x16");
}
