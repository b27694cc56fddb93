// SPDX-License-Identifier: MIT
// Problems with operands beyond the reach of one dispatch: their parts stay below, and together are the product.
#include "plan/steps/parts.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "plan/choice/reach.h"
#include "plan/repeated.h"
#include "support/recorded_device.h"
#include "support/string_util.h"

using namespace vkgemm::plan;
using namespace vkgemm::test;

namespace {

Matrix drawn(Random& random, uint64_t rows, uint64_t cols, uint64_t batch) {
    Matrix x;
    if (random.one_in(2)) x.layout = columnMajor;
    const uint64_t length = x.layout == rowMajor ? cols : rows, lines = x.layout == rowMajor ? rows : cols;
    x.ld = length + random.below(3);
    if (batch > 1 && random.one_in(2)) x.batchStride = x.ld * lines + random.below(5);
    return x;
}

Problem draw(Random& random) {
    Problem p;
    p.m = 1 + random.below(40);
    p.n = 1 + random.below(40);
    p.k = random.below(30);
    p.batch = 1 + random.below(3);
    p.cSource = static_cast<VkgemmC>(random.below(3));
    p.a = drawn(random, p.m, p.k, p.batch);
    p.b = drawn(random, p.k, p.n, p.batch);
    p.d = drawn(random, p.m, p.n, p.batch);
    if (p.cSource == VKGEMM_C_SEPARATE) p.c = drawn(random, p.m, p.n, p.batch);
    if (random.one_in(4)) {
        p.outerBatch = 2;
        p.outerStrideB = broadcast;
    }
    if (random.one_in(3)) p.epilogue.add({random.one_in(2) ? VKGEMM_STEP_BIAS_ROW : VKGEMM_STEP_BIAS_COL});
    constexpr std::array<VkgemmStepKind, 4> of_scale = {VKGEMM_STEP_SCALE_ROW, VKGEMM_STEP_SCALE_COL,
                                                        VKGEMM_STEP_CLAMP_ROW, VKGEMM_STEP_CLAMP_COL};
    if (random.one_in(3)) p.epilogue.add({random.pick(of_scale)});
    if (random.one_in(3)) p.epilogue.add({p.m % 2 ? VKGEMM_STEP_RESIDUAL : VKGEMM_STEP_DRELU});
    return p;
}

std::vector<Normalised> parts(const std::string& line, Binding binding = Binding::addresses) {
    DeviceCaps dev;
    dev.max_storage_range = uint64_t{1} << 30;
    return parts_of(normalise(completed_line(line)), dev, binding);
}

}  // namespace

TEST_CASE("parts: each is within reach, and together they are the product") {
    int cut = 0, cut_k = 0, cut_batch = 0, whole = 0, never = 0;
    for (uint64_t seed = 1; seed <= 3000; ++seed) {
        Random random(seed);
        const Problem given = draw(random);
        const Result<Problem> full = complete(given);
        CAPTURE(seed);
        CAPTURE(to_text(given, 2, 3));
        REQUIRE_MESSAGE(bool(full), full.status().text);
        DeviceCaps dev;
        dev.max_span = 40 + random.below(500);
        CAPTURE(dev.max_span);
        const Normalised n = normalise(*full);
        const auto all = parts_of(n, dev, Binding::addresses);
        REQUIRE(!all.empty());
        if (!all[0].is_part) {
            bool fits = true;
            for (const Operand& x : operands(n.problem)) fits &= !beyond_reach(n.problem, x, dev, Binding::addresses);
            (fits ? whole : never) += 1;
            continue;
        }
        for (const Normalised& part : all) {
            for (const Operand& x : operands(part.problem))
                REQUIRE(!beyond_reach(part.problem, x, dev, Binding::addresses));
            cut_k += part.adds;
            cut_batch += part.problem.batch < n.problem.batch;
        }
        const vkgemm::test::Operands in = operands_for(*full, seed);
        std::vector<double> expected = in.d;
        multiply(*full, in, expected, 0, full->batch * full->outerBatch);
        REQUIRE(same_numbers(expected, repeated(all, in)));
        ++cut;
    }
    MESSAGE(cut << " cut, " << cut_k << " parts add, " << cut_batch << " in the batch, " << whole << " whole, " << never
                << " cannot be cut");
    for (const int some : {cut, cut_k, cut_batch, whole}) CHECK(some > 100);
    CHECK(never < 400);
}

TEST_CASE("parts: K is cut between blocks of either operand") {
    for (const char* line : {"f16*q8_0->f32 10x3x320 layout=tt", "q8_0*f16->f32 3x10x320"}) {
        CAPTURE(line);
        DeviceCaps dev;
        dev.max_span = 400;  // 40 rows of the operand that lies across K, and blocks have 32 elements
        const Normalised whole = normalise(completed_line(line));
        const auto all = parts_of(whole, dev, Binding::addresses);
        REQUIRE(all.size() > 1);
        CHECK(all[0].problem.k == 32);
        for (const Normalised& part : all) CHECK(part.problem.k % 32 == 0);
    }
}

TEST_CASE("parts: sizes of those of large problems") {
    const auto first = [](const std::vector<Normalised>& all) { return sizes_of(all[0].problem); };
    const auto product = parts("70000x40000x4096");
    CHECK(first(product) == Sizes{.m = 35072, .n = 40000, .k = 4096, .batch = 1});
    CHECK((product.size() == 2 && product[0].problem.outerBatch == 1));
    CHECK(product[1].begin.stride[3] == uint64_t{35072} * 40000);
    CHECK(first(parts("4096x40000x70000")) == Sizes{.m = 4096, .n = 40000, .k = 35072, .batch = 1});  // the rows of B
    CHECK(first(parts("40000x4096x70000")) == Sizes{.m = 20224, .n = 4096, .k = 70000, .batch = 1});
    CHECK(first(parts("40000x4096x70000 layout=nt")) == Sizes{.m = 20224, .n = 4096, .k = 70000, .batch = 1});
    CHECK(first(parts("40000x4096x70000 layout=tn")) == Sizes{.m = 40000, .n = 4096, .k = 35072, .batch = 1});
    CHECK(first(parts("4096x4096x4096 batch=200")) == Sizes{.m = 4096, .n = 4096, .k = 4096, .batch = 100});
    CHECK(first(parts("4096x4096x4096 batch=200", Binding::descriptors)) ==
          Sizes{.m = 4096, .n = 4096, .k = 4096, .batch = 15});
    CHECK(first(parts("16384x16384x64", Binding::descriptors)) == Sizes{.m = 8192, .n = 16384, .k = 64, .batch = 1});
    CHECK(first(parts("f16*q8_0->f32 64x100000x65536 layout=nt")) ==
          Sizes{.m = 64, .n = 25088, .k = 65536, .batch = 1});
    for (const char* line :
         {"70000x40000x4096 upto=m", "70000x40000x4096 packed_a=any", "70000x40000x4096 groups=table",
          "f16*f16 4096x40000x70000", "4096x40000x70000 residual", "4096x40000x70000 invariant", "2x2x2147483648"}) {
        INFO(line);
        const auto whole = parts(line);
        CHECK((whole.size() == 1 && !whole[0].is_part));
    }
}

TEST_CASE("parts: later parts of K add to D as it is, and steps are multiples of those that the plan states") {
    DeviceCaps dev;
    dev.max_span = 3000;
    const Problem p = completed_line(
        "20x30x400 layout=tn lda=900 ldb=400 c=separate outer=2 outer_stride_c=700 outer_stride_d=1000 clamp=0:1 "
        "scalars=alpha,beta,clamp");
    const auto all = parts_of(normalise(p), dev, Binding::addresses);
    CHECK(std::ranges::count_if(all, [](const Normalised& n) { return !n.adds; }) < static_cast<int>(all.size()));
    for (const Normalised& n : all) {
        const bool ends = n.problem.epilogue.count == 1;
        CHECK(n.problem.scalars ==
              (VKGEMM_SCALARS_ALPHA | (n.adds ? 0 : VKGEMM_SCALARS_BETA) | (ends ? VKGEMM_SCALARS_CLAMP : 0)));
        CHECK(n.problem.outerStrideC == (n.adds ? n.problem.outerStrideD : 700));
        const std::array<uint64_t, 4> steps = {n.problem.outerStrideA, n.problem.outerStrideB, n.problem.outerStrideC,
                                               n.problem.outerStrideD};
        for (size_t i = 0; i < steps.size(); ++i) {
            if (i == BIND_C && n.adds) continue;  // it is D
            CHECK((steps[i] ? n.begin.stride[i] % steps[i] : n.begin.stride[i]) == 0);
            for (const Level& l : n.repeated) CHECK((steps[i] ? l.stride[i] % steps[i] : l.stride[i]) == 0);
        }
    }
}

TEST_CASE("parts: operands of 16 bits that are read in words begin at an even element") {
    const Problem p = completed_line("20x30x40 c=separate c_type=f16 bias=col bias_type=bf16");
    Normalised part = normalise(p);
    part.is_part = true;
    part.begin.stride[2] = 60;
    part.begin.columns = 2;
    CHECK(!unfit_levels(p, part));
    part.begin.stride[2] = 63;
    auto why = unfit_levels(p, part);
    REQUIRE(why);
    CHECK(has_words(why->text, "C has a type of 16 bits", "every 63"));
    part.begin.stride[2] = 60;
    part.begin.columns = 3;
    why = unfit_levels(p, part);
    REQUIRE(why);
    CHECK(has_words(why->text, "the bias has a type of 16 bits", "every 3"));
}

TEST_CASE("parts: what cannot be cut is refused, with the limit and the reason") {
    const DeviceCaps caps = device("h200");
    const struct {
        const char* line;
        std::vector<std::string> words;
    } rows[] = {
        {"70000x40000x4096 upto=m", {"D spans 2800000000 elements", "2147483647", "sizes that vary"}},
        {"f16*f16 4096x40000x70000", {"B spans 2800000000", "D has the accumulator's type"}},
        {"4096x40000x70000 residual", {"B spans 2800000000", "no residual"}},
        {"4x2x4 lda=3000000000", {"leading dimension of A is 3000000000", "2147483647"}},
    };
    for (const auto& row : rows) {
        INFO(row.line);
        const auto choice = select(caps, normalise(completed_line(row.line)).problem, {});
        REQUIRE(!choice);
        CHECK(choice.status().code == VKGEMM_ERROR_LIMIT);
        for (const std::string& word : row.words)
            CHECK_MESSAGE(choice.status().text.find(word) != std::string::npos, choice.status().text);
    }
}
