// SPDX-License-Identifier: MIT
// Plans for sizes up to a bound, recorded with sizes and strides that no plan has seen:
// the operands of each run are exactly as large as its sizes need, with poison around and between their rows.
#include <doctest/doctest.h>

#include <array>
#include <set>

#include "kernels/surface.h"
#include "plan/choice/device_kernels.h"
#include "support/random.h"
#include "vkgemm/rounding.hpp"

using namespace vkgemm::test;
using vkgemm::columnMajor;
using vkgemm::rowMajor;
using vkgemm::plan::Kernel;
using vkgemm::plan::Matrix;
using vkgemm::plan::Problem;
using vkgemm::plan::Sizes;

namespace {

// Lengths near the ends of ranges and of tiles, and any others.
uint64_t some_size(Random& random, uint64_t most) {
    constexpr std::array<uint64_t, 12> edges = {1, 2, 3, 4, 7, 8, 16, 17, 32, 33, 64, 65};
    const uint64_t edge = random.pick(edges);
    return random.one_in(3) && edge <= most ? edge : random.one_in(4) ? most : 1 + random.below(most);
}

// A size of a run: any up to the bound, or the multiples that aligned and whole tiles want; sometimes 0.
uint64_t run_size(Random& random, uint64_t most) {
    if (random.one_in(40)) return 0;
    const uint64_t size = some_size(random, most);
    return random.one_in(3) && size >= 16 ? size / 16 * 16 : size;
}

void set_layout(Random& random, Matrix& x, uint64_t rows, uint64_t cols, uint64_t batch, bool may_broadcast) {
    x.layout = random.one_in(2) ? rowMajor : columnMajor;
    const uint64_t inner = x.layout == rowMajor ? cols : rows, outer = x.layout == rowMajor ? rows : cols;
    const std::array<uint64_t, 4> lds = {0, inner, (inner + 15) / 16 * 16, inner + 1 + random.below(5)};
    x.ld = random.pick(lds);
    if (batch > 1 && random.one_in(3))
        x.batchStride =
            may_broadcast && random.one_in(2) ? vkgemm::broadcast : (x.ld ? x.ld : inner) * (outer + random.below(3));
}

// A problem some of whose sizes vary.
Case random_case(Random& random) {
    constexpr std::array<const char*, 5> types = {"f32*f32", "f16*f16", "i32*i32", "i8*i8", "f16*f16->f32"};
    constexpr std::array<const char*, 4> rest = {"", " beta=2", " c=separate beta=1 bias=row", " bias=col act=relu"};
    Case x = case_of("", std::string(random.pick(types)) + " 1x1x1" + (random.one_in(2) ? "" : random.pick(rest)));
    Problem& p = x.problem;
    const bool great = random.one_in(6);
    p.m = some_size(random, great ? 300 : 80);
    p.n = some_size(random, great ? 300 : 80);
    p.k = some_size(random, great ? 2000 : 200);
    p.batch = random.one_in(3) ? 1 + random.below(4) : 1;
    p.upTo = 1 + static_cast<uint32_t>(random.below(31));
    if (p.upTo & (VKGEMM_UP_TO_STRIDES | VKGEMM_UP_TO_BATCH) && random.one_in(2)) {
        p.batch = 4;
        (random.one_in(2) ? p.ratioA : p.ratioB) = 1 + random.below(2);
        p.outerBatch = 1 + random.below(2);
    }
    set_layout(random, p.a, p.m, p.k, p.batch, true);
    set_layout(random, p.b, p.k, p.n, p.batch, true);
    set_layout(random, p.d, p.m, p.n, p.batch, false);
    p.c.layout = p.cSource == VKGEMM_C_SEPARATE ? p.d.layout : rowMajor;
    x.seed = random.bits() % 1000;
    x.shift = random.one_in(5) ? 1 : 0;
    return x;
}

Sizes sizes_for(Random& random, const Problem& p) {
    const auto size = [&](uint32_t bit, uint64_t most) { return p.upTo & bit ? run_size(random, most) : most; };
    const uint64_t sharing = std::max({p.ratioA, p.ratioB, uint64_t{1}});  // of which the batch is a multiple
    return {.m = size(VKGEMM_UP_TO_M, p.m),
            .n = size(VKGEMM_UP_TO_N, p.n),
            .k = size(VKGEMM_UP_TO_K, p.k),
            .batch = sharing * size(VKGEMM_UP_TO_BATCH, p.batch / sharing)};
}

// Asks for a kernel of the problem's types and for a schedule, if all sizes can have them. Left alone, a CPU would
// always take the same family.
void ask_for_kernel(Random& random, Case& x) {
    constexpr std::array<const char*, 6> tiles = {"", "", "SPLIT=3", "PACK=4", "PACK=2,SPLIT=2", "PACK=3"};
    const Problem full = *vkgemm::plan::complete(x.problem);
    std::vector<const Kernel*> all;
    for (const Kernel& k : vkgemm::plan::kernels())
        if (k.module.is_product() && k.module.has_types_of(full) && fits(k)) all.push_back(&k);
    for (int tries = 0; tries < 16; ++tries) {
        Case named = x;
        named.kernel = random.pick(all)->name;
        named.tile = random.pick(tiles);
        if (is_planned(named)) return void(x = named);
    }
}

void run_random(uint64_t seed, int problems, int runs) {
    Random random(seed);
    std::set<std::string_view> families;
    int tried = 0, done = 0, wrong = 0, split = 0, packed = 0, strided = 0;
    for (int i = 0; i < problems; ++i) {
        Case x = random_case(random);
        if (!can_be_exact(x) || !is_planned(x)) continue;  // the device may lack a type
        ++tried;
        if (i % 3) ask_for_kernel(random, x);
        if (!x.kernel.empty()) families.insert(vkgemm::plan::find_kernel(x.kernel)->module.family.name);
        split += x.tile.find("SPLIT") != std::string::npos;
        packed += x.tile.find("PACK") != std::string::npos;
        for (int run_of_plan = 0; run_of_plan < runs; ++run_of_plan, ++done) {
            x.sizes = sizes_for(random, x.problem);
            x.strides = strides_for(random, x);
            strided += x.strides.has_value();
            if (const std::string why = run(x); !why.empty() && ++wrong <= 3) MESSAGE(to_text(x), "\n  ", why);
        }
    }
    CHECK_MESSAGE(wrong == 0, wrong, " of ", done, " runs are wrong");
    CHECK(done > problems / 2);  // SwiftShader has two of the types
    if (tried < 15) return;      // too few for each schedule to have come up
    CHECK(families.size() >= 3);
    CHECK(strided * 5 > done);
    CHECK(split > 0);
    CHECK(packed > 0);
}

}  // namespace

TEST_CASE("sizes at record time: random problems, random sizes") { run_random(11, is_quick() ? 12 : 24, 6); }
TEST_CASE("slow: sizes at record time, more random problems") { run_random(seed_or(12), everything() ? 1000 : 24, 6); }
