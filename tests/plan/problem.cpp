// SPDX-License-Identifier: MIT
// complete() fills in every default or names the rule that is broken; normalise() changes the question, never the
// answer.
#include "plan/problem/problem.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>

#include "plan/problem/problem_text.h"
#include "support/guarded.h"
#include "support/random.h"
#include "support/reference.h"
#include "support/string_util.h"

using namespace vkgemm::plan;
using namespace vkgemm::test;

namespace {

Problem of_size(uint64_t m, uint64_t n, uint64_t k, uint64_t batch = 1) {
    return {.m = m, .n = n, .k = k, .batch = batch};
}

/// The operands of `p`, filled with whole numbers from `seed`, poison between them.
Operands random_operands(const Problem& p, uint64_t seed) {
    Random random(seed);
    const auto whole = [&] { return static_cast<double>(random.between(-9, 9)); };
    const auto filled = [&](Guarded g) {
        g.fill(whole);
        return g.numbers();
    };
    Operands out;
    out.a = filled(Guarded(p.a.type, p.a, p.m, p.k, p.batch));
    out.b = filled(Guarded(p.b.type, p.b, p.k, p.n, p.batch));
    out.c = filled(Guarded(p.c.type, p.c, p.m, p.n, p.batch));
    out.d = filled(Guarded(p.d.type, p.d, p.m, p.n, p.batch));
    out.residual = filled(Guarded(p.d.type, p.d, p.m, p.n, p.batch));
    out.bias = filled(Guarded::vector(p.d.type, p.m + p.n));
    out.scale = filled(Guarded::vector(p.d.type, 2 * (p.m + p.n)));
    return out;
}

/// The whole of D by the reference, padding left as it was.
std::vector<double> whole_d(const Problem& p, const Operands& in) {
    std::vector<double> d = in.d;
    for (uint64_t z = 0; z < p.batch; ++z)
        for (uint64_t r = 0; r < p.m; ++r)
            for (uint64_t c = 0; c < p.n; ++c) d[position(p.d, z, r, c)] = reference(p, 2, 3, in, z, r, c).value;
    return d;
}

bool same(const std::vector<double>& x, const std::vector<double>& y) {
    if (x.size() != y.size()) return false;
    for (size_t i = 0; i < x.size(); ++i)
        if (x[i] != y[i] && !(std::isnan(x[i]) && std::isnan(y[i]))) return false;
    return true;
}

Problem random_problem(Random& random) {
    Problem p = of_size(1 + random.below(6), 1 + random.below(6), random.below(5), 1 + random.below(4));
    p.cSource = static_cast<VkgemmC>(random.below(3));
    for (Matrix* x : {&p.a, &p.b, &p.d}) x->layout = static_cast<Layout>(random.below(2));
    if (p.cSource == VKGEMM_C_SEPARATE) p.c.layout = static_cast<Layout>(random.below(2));
    if (random.one_in(3)) p.a.ld = 8;
    if (random.one_in(3)) p.d.ld = 9;
    if (random.one_in(2)) p.b.batchStride = broadcast;
    if (random.one_in(3)) p.a.batchStride = broadcast;
    if (random.one_in(4)) p.d.batchStride = 100;
    const VkgemmStepKind biases[] = {VKGEMM_STEP_BIAS_ROW, VKGEMM_STEP_BIAS_COL},
                         scales[] = {VKGEMM_STEP_SCALE_ROW, VKGEMM_STEP_SCALE_COL, VKGEMM_STEP_SCALE_ALL,
                                     VKGEMM_STEP_CLAMP_ROW, VKGEMM_STEP_CLAMP_COL};
    if (random.one_in(2)) p.epilogue.add({biases[random.below(2)]});
    if (random.one_in(2)) p.epilogue.add({scales[random.below(std::size(scales))]});
    if (random.one_in(2)) p.epilogue.add({random.one_in(2) ? VKGEMM_STEP_RESIDUAL : VKGEMM_STEP_DRELU});
    if (random.one_in(2)) p.epilogue.add({VKGEMM_STEP_RELU});
    return p;
}

}  // namespace

TEST_CASE("complete() fills in types") {
    const struct {
        Type a, b, accumulate, d;
    } rows[] = {{VKGEMM_TYPE_DEFAULT, f32, f32, f32},
                {f32, f32, f32, f32},
                {f16, f16, f32, f16},
                {bf16, bf16, f32, bf16},
                {f64, f64, f64, f64},
                {i32, i32, i32, i32},
                {i8, i8, i32, i32},
                {u8, u8, i32, i32}};
    for (const auto& row : rows) {
        Problem p = of_size(2, 3, 4);
        p.a.type = row.a;
        const Result<Problem> full = complete(p);
        REQUIRE(full);
        CHECK(full->a.type == (row.a == VKGEMM_TYPE_DEFAULT ? f32 : row.a));
        CHECK(full->b.type == row.b);
        CHECK(full->accumulate == row.accumulate);
        CHECK(full->d.type == row.d);
        CHECK(full->c.type == row.d);
    }
}

TEST_CASE("complete() fills in leading dimensions and strides") {
    Problem p = of_size(2, 3, 4, 5);
    p.b.layout = columnMajor;
    p.a.batchStride = broadcast;
    p.d.ld = 7;
    const Result<Problem> full = complete(p);
    REQUIRE(full);
    CHECK(full->a.ld == 4);
    CHECK(full->a.batchStride == 0);  // broadcast
    CHECK(full->b.ld == 4);           // k, for a column of B has k elements
    CHECK(full->b.batchStride == 12);
    CHECK(full->d.ld == 7);
    CHECK(full->d.batchStride == 14);

    const Result<Problem> single = complete(of_size(2, 3, 4));
    REQUIRE(single);
    CHECK(single->d.batchStride == 0);

    const Result<Problem> hollow = complete(of_size(2, 3, 0));
    REQUIRE(hollow);
    CHECK(hollow->a.ld >= 1);  // nothing is read, but a leading dimension is never 0
}

TEST_CASE("complete() accepts what is unusual but sound") {
    const std::function<void(Problem&)> changes[] = {
        [](Problem& p) { p.m = 0; },
        [](Problem& p) {
            p.n = 0;
            p.batch = 3;
        },
        [](Problem& p) {
            p.k = 0;
            p.cSource = VKGEMM_C_IS_D;
        },
        [](Problem& p) {  // matrices of A may share elements: they are only read
            p.batch = 3;
            p.a.batchStride = 1;
        },
        [](Problem& p) {
            p.batch = 1;
            p.d.batchStride = broadcast;
        },
        [](Problem& p) {  // side by side in rows of 24
            p.batch = 8;
            p.d.batchStride = 3;
            p.d.ld = 24;
        },
        [](Problem& p) {  // with a column between, but none at the end
            p.batch = 8;
            p.d.batchStride = 4;
            p.d.ld = 31;
        },
        [](Problem& p) {
            p.batch = 8;
            p.d.layout = columnMajor;
            p.d.batchStride = 2;
            p.d.ld = 16;
        },
        [](Problem& p) {
            p.cSource = VKGEMM_C_SEPARATE;
            p.batch = 2;
            p.c.batchStride = broadcast;
        },
        [](Problem& p) {
            p.epilogue = {{VKGEMM_STEP_CLAMP, -INFINITY, INFINITY}};
        },
    };
    for (size_t i = 0; i < std::size(changes); ++i) {
        CAPTURE(i);
        Problem p = of_size(2, 3, 4);
        changes[i](p);
        const Result<Problem> result = complete(p);
        const bool accepted = bool(result);
        CHECK_MESSAGE(accepted, result.status().text);
    }
}

TEST_CASE("complete() accepts as many groups as a table has, and no more") {
    Problem p = of_size(2, 3, 4);
    p.grouping = VKGEMM_GROUPING_TABLE;
    p.batch = most_groups_of_table;
    CHECK(complete(p));
    ++p.batch;
    CHECK(complete(p).status().code == VKGEMM_ERROR_UNSUPPORTED);
}

TEST_CASE("a problem without products is as empty as one without rows or columns") {
    for (uint64_t Problem::*size : {&Problem::m, &Problem::n, &Problem::batch}) {
        Problem p = of_size(2, 3, 4);
        CHECK(!is_empty(p));
        p.*size = 0;
        CHECK(is_empty(p));
    }
    CHECK(!is_empty(of_size(2, 3, 0)));  // whose D is 0
}

TEST_CASE("of_run() takes every stride of the run") {
    Problem p = of_size(2, 3, 4, 5);
    p.cSource = VKGEMM_C_SEPARATE;
    p.outerBatch = 2;
    p.upTo = VKGEMM_UP_TO_STRIDES;
    VkgemmRunStrides s{};
    uint64_t next = 1000;
    for (uint64_t VkgemmRunStrides::*ld :
         {&VkgemmRunStrides::lda, &VkgemmRunStrides::ldb, &VkgemmRunStrides::ldc, &VkgemmRunStrides::ldd})
        s.*ld = next++;
    for (uint64_t VkgemmRunStrides::*stride :
         {&VkgemmRunStrides::batchStrideA, &VkgemmRunStrides::batchStrideB, &VkgemmRunStrides::batchStrideC,
          &VkgemmRunStrides::batchStrideD, &VkgemmRunStrides::outerStrideA, &VkgemmRunStrides::outerStrideB,
          &VkgemmRunStrides::outerStrideC, &VkgemmRunStrides::outerStrideD}) {
        next *= 10;
        s.*stride = next;
    }
    const Result<Problem> run = of_run(p, sizes_of(p), s);
    REQUIRE_MESSAGE(bool(run), run.status().text);
    CHECK((run->a.ld == s.lda && run->b.ld == s.ldb && run->c.ld == s.ldc && run->d.ld == s.ldd));
    CHECK((run->a.batchStride == s.batchStrideA && run->b.batchStride == s.batchStrideB));
    CHECK((run->c.batchStride == s.batchStrideC && run->d.batchStride == s.batchStrideD));
    CHECK((run->outerStrideA == s.outerStrideA && run->outerStrideB == s.outerStrideB));
    CHECK((run->outerStrideC == s.outerStrideC && run->outerStrideD == s.outerStrideD));
}

TEST_CASE("normalise() keeps the answer") {
    int transposed = 0, merged = 0;
    for (uint64_t seed = 1; seed <= 3000; ++seed) {
        Random random(seed);
        const Result<Problem> full = complete(random_problem(random));
        REQUIRE_MESSAGE(bool(full), "seed ", seed);
        const Operands in = random_operands(*full, seed);
        const Normalised n = normalise(*full);
        Operands moved = in;
        if (n.swapped) std::swap(moved.a, moved.b);
        transposed += n.swapped;
        merged += n.problem.batch < full->batch;
        REQUIRE_MESSAGE(same(whole_d(*full, in), whole_d(n.problem, moved)), "seed ", seed);
        REQUIRE_MESSAGE(n.problem.d.layout == rowMajor, "seed ", seed);
    }
    CHECK(transposed > 500);  // the sample must hold what it is meant to show
    CHECK(merged > 50);
}

TEST_CASE("normalise() has a transposed problem vary in the other size, and leaves what a run may change as it is") {
    const auto of = [](const char* line) { return normalise(*complete(parse_problem(line)->problem)).problem; };
    CHECK(of("4x5x6 upto=mk").upTo == (VKGEMM_UP_TO_M | VKGEMM_UP_TO_K));
    CHECK(of("4x5x6 upto=mk layout_d=t").upTo == (VKGEMM_UP_TO_N | VKGEMM_UP_TO_K));
    CHECK(of("4x5x6 upto=nb layout_d=t").upTo == (VKGEMM_UP_TO_M | VKGEMM_UP_TO_BATCH));
    // One row in columns without gaps is k-contiguous, unless its kernel must not know that there is one.
    CHECK(of("1x8x16 layout=tn lda=1").a.layout == rowMajor);
    CHECK(of("1x8x16 layout=tn lda=1 invariant").a.layout == columnMajor);
    CHECK(of("1x8x16 layout=tn lda=1 upto=s").a.layout == columnMajor);
    CHECK(of("1x8x16 layout=tn layout_d=t lda=1").b.layout == columnMajor);
    CHECK(of("1x8x16 layout=tn layout_d=t lda=1 invariant").b.layout == rowMajor);
    CHECK(of("8x1x16 layout_d=t ldb=1 invariant").a.layout == rowMajor);  // n is not m
    // Two levels that go on where one ends are one, if a run cannot place them elsewhere.
    CHECK(of("4x5x6 batch=6 outer=5").batch == 30);
    CHECK(of("4x5x6 batch=6 outer=5 upto=s").batch == 6);
}

TEST_CASE("normalise() makes one product of a batch where it can") {
    Problem p = of_size(4, 3, 5, 6);
    p.b.batchStride = broadcast;
    const Normalised n = normalise(*complete(p));
    CHECK(n.problem.m == 24);
    CHECK(n.problem.batch == 1);

    p.epilogue = {{VKGEMM_STEP_BIAS_ROW}};  // the row within its own matrix would be lost
    CHECK(normalise(*complete(p)).problem.batch == 6);
    p.epilogue = {{VKGEMM_STEP_BIAS_COL}};
    CHECK(normalise(*complete(p)).problem.batch == 1);
    p.d.batchStride = 13;
    CHECK(normalise(*complete(p)).problem.batch == 6);
}

TEST_CASE("wide_bytes(): elements are read by fours, but no less than 16 bytes at a time") {
    CHECK((wide_bytes(f64) == 32 && wide_bytes(f32) == 16 && wide_bytes(f16) == 16 && wide_bytes(i8) == 16));
    CHECK(wide_bytes(VKGEMM_TYPE_Q8_0) == 16);
}

TEST_CASE("has_pitches(): rows, matrices and batches begin at multiples of 16 bytes") {
    const auto a = [](const char* line, uint32_t alignment = 16) {
        const Problem p = *complete(parse_problem(line)->problem);
        return has_pitches(operands(p)[0], alignment);
    };
    CHECK(a("f16*f16 9x9x9 batch=3 outer=2 lda=16 stride_a=144 outer_stride_a=800"));
    CHECK(!a("f16*f16 9x9x9 batch=3 outer=2 lda=16 stride_a=144 outer_stride_a=800", 8));
    CHECK(!a("f16*f16 9x9x9 batch=3 outer=2 lda=12 stride_a=144 outer_stride_a=800"));
    CHECK(!a("f16*f16 9x9x9 batch=3 outer=2 lda=16 stride_a=148 outer_stride_a=800"));
    CHECK(!a("f16*f16 9x9x9 batch=3 outer=2 lda=16 stride_a=144 outer_stride_a=804"));
    CHECK(!a("f16*f16 9x9x9 lda=16 upto=s"));
}

TEST_CASE("span_elements() reaches the last element and no further") {
    const Matrix rows{.type = f32, .layout = rowMajor, .ld = 10, .batchStride = 100};
    const Matrix cols{.type = f32, .layout = columnMajor, .ld = 10, .batchStride = 100};
    CHECK(span_elements(rows, 3, 4, 1) == 24);
    CHECK(span_elements(cols, 3, 4, 1) == 33);
    CHECK(span_elements(rows, 3, 4, 5) == 424);
    CHECK(span_elements(rows, 0, 4, 5) == 0);
    CHECK(span_elements(rows, 3, 4, 0) == 0);
    CHECK(span_elements({.type = f32, .layout = rowMajor, .ld = UINT64_MAX}, 2, 1, 1) == std::nullopt);
    CHECK(span_elements({.type = f32, .layout = rowMajor, .ld = UINT64_MAX - 1}, 2, 1, 1) == UINT64_MAX);
}
