// SPDX-License-Identifier: MIT
// complete() fills in every default or names the rule that is broken; normalise() changes the question, never the
// answer.
#include "plan/problem/problem.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>

#include "support/guarded.h"
#include "support/random.h"
#include "support/reference.h"
#include "support/string_util.h"

using namespace vkgemm::plan;
using namespace vkgemm::test;

namespace {

Problem of_size(uint64_t m, uint64_t n, uint64_t k, uint64_t batch = 1) {
    Problem p;
    p.m = m, p.n = n, p.k = k, p.batch = batch;
    return p;
}

/// The operands of `p`, filled with whole numbers from `seed`, poison between them.
Operands random_operands(const Problem& p, uint64_t seed) {
    Random random(seed);
    const auto whole = [&] { return static_cast<double>(random.between(-9, 9)); };
    const auto filled = [&](Guarded g) { return g.fill(whole), g.numbers(); };
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

TEST_CASE("complete() names the rule that a problem breaks") {
    struct Row {
        std::string what;
        std::function<void(Problem&)> change;
        VkgemmResult kind;
        std::vector<std::string> words;
    };
    const Row rows[] = {
        {"lda below the row", [](Problem& p) { p.a.ld = 3; }, VKGEMM_ERROR_INVALID_PROBLEM, {"lda", "3", "row", "4"}},
        {"ldb below the row", [](Problem& p) { p.b.ld = 2; }, VKGEMM_ERROR_INVALID_PROBLEM, {"ldb", "2", "3"}},
        {"lda below the column",
         [](Problem& p) { p.a.layout = columnMajor, p.a.ld = 1; },
         VKGEMM_ERROR_INVALID_PROBLEM,
         {"lda", "column", "2"}},
        {"ldd below the row", [](Problem& p) { p.d.ld = 1; }, VKGEMM_ERROR_INVALID_PROBLEM, {"ldd", "1", "3"}},
        {"ldc below the row",
         [](Problem& p) { p.cSource = VKGEMM_C_SEPARATE, p.c.ld = 2; },
         VKGEMM_ERROR_INVALID_PROBLEM,
         {"ldc", "2", "3"}},
        {"D broadcast",
         [](Problem& p) { p.batch = 2, p.d.batchStride = broadcast; },
         VKGEMM_ERROR_INVALID_PROBLEM,
         {"D", "broadcast", "2"}},
        {"D overlaps itself",
         [](Problem& p) { p.batch = 2, p.d.batchStride = 5; },
         VKGEMM_ERROR_INVALID_PROBLEM,
         {"stride", "5", "6"}},
        {"D side by side, narrower than a row",
         [](Problem& p) { p.batch = 2, p.d.batchStride = 2, p.d.ld = 100; },
         VKGEMM_ERROR_INVALID_PROBLEM,
         {"stride_d is 2", "2 of them", "100", "overwrite"}},
        {"D side by side, one column too few for all",
         [](Problem& p) { p.batch = 8, p.d.batchStride = 3, p.d.ld = 23; },
         VKGEMM_ERROR_INVALID_PROBLEM,
         {"stride_d is 3", "8 of them", "23", "overwrite"}},
        {"columns of D side by side, one row too few",
         [](Problem& p) { p.batch = 8, p.d.layout = columnMajor, p.d.batchStride = 2, p.d.ld = 15; },
         VKGEMM_ERROR_INVALID_PROBLEM,
         {"stride_d is 2", "8 of them", "15"}},
        {"A beyond 2^64", [](Problem& p) { p.a.ld = UINT64_MAX; }, VKGEMM_ERROR_INVALID_PROBLEM, {"a spans", "2^64"}},
        {"B beyond 2^64 by its batch",
         [](Problem& p) { p.batch = 3, p.b.batchStride = UINT64_MAX - 1; },
         VKGEMM_ERROR_INVALID_PROBLEM,
         {"b spans", "2^64"}},
        {"m*k beyond 2^64", [](Problem& p) { p.m = p.k = uint64_t{1} << 40; }, VKGEMM_ERROR_INVALID_PROBLEM, {"2^64"}},
        {"C described but absent",
         [](Problem& p) { p.c.ld = 3; },
         VKGEMM_ERROR_INVALID_PROBLEM,
         {"ldc", "cSource", "c=separate"}},
        {"C is D but described",
         [](Problem& p) { p.cSource = VKGEMM_C_IS_D, p.c.ld = 3; },
         VKGEMM_ERROR_INVALID_PROBLEM,
         {"C is D"}},
        {"C of a type that D cannot have beside it",
         [](Problem& p) { p.cSource = VKGEMM_C_SEPARATE, p.c.type = i8; },
         VKGEMM_ERROR_UNSUPPORTED,
         {"C is i8", "f32, f16 or bf16"}},
        {"C is D and has a type",
         [](Problem& p) { p.cSource = VKGEMM_C_IS_D, p.c.type = f16; },
         VKGEMM_ERROR_INVALID_PROBLEM,
         {"C is D", "f32"}},
        {"the type of a bias that there is not",
         [](Problem& p) { p.biasType = f16; },
         VKGEMM_ERROR_INVALID_PROBLEM,
         {"bias", "f16", "none"}},
        {"f64 beside another type",
         [](Problem& p) { p.a.type = f64, p.epilogue = {{VKGEMM_STEP_SCALE_ALL}}, p.scaleType = f32; },
         VKGEMM_ERROR_UNSUPPORTED,
         {"scale is f32", "f64, D's type"}},
        {"whole sums beside another type",
         [](Problem& p) { p.a.type = i8, p.epilogue = {{VKGEMM_STEP_BIAS_COL}}, p.biasType = f32; },
         VKGEMM_ERROR_UNSUPPORTED,
         {"bias is f32", "i32, D's type"}},
        {"a whole bias that comes late",
         [](Problem& p) {
             p.a.type = i8, p.d.type = f16, p.biasType = i32;
             p.epilogue = {{VKGEMM_STEP_SCALE_ALL}, {VKGEMM_STEP_BIAS_COL}};
         },
         VKGEMM_ERROR_UNSUPPORTED,
         {"bias is i32", "first step"}},
        {"a scale of i8",
         [](Problem& p) {
             p.a.type = p.d.type = i8, p.scaleType = i8, p.accumulate = i32;
             p.epilogue = {{VKGEMM_STEP_SCALE_ALL}};
         },
         VKGEMM_ERROR_UNSUPPORTED,
         {"scale is i8", "f32, f16 or bf16"}},
        {"C of its own type, of groups",
         [](Problem& p) { p.grouping = VKGEMM_GROUPING_TABLE, p.c.type = f16, p.cSource = VKGEMM_C_SEPARATE; },
         VKGEMM_ERROR_UNSUPPORTED,
         {"C is f16", "grouped", "f32"}},
        {"a residual of its own type, of groups",
         [](Problem& p) {
             p.grouping = VKGEMM_GROUPING_TABLE, p.residualType = f16;
             p.epilogue = {{VKGEMM_STEP_RESIDUAL}};
         },
         VKGEMM_ERROR_UNSUPPORTED,
         {"residual is f16", "grouped", "f32"}},
        {"scalars of f64",
         [](Problem& p) { p.a.type = f64, p.scalars = VKGEMM_SCALARS_ALPHA; },
         VKGEMM_ERROR_UNSUPPORTED,
         {"f32", "f64"}},
        {"scalars of whole sums",
         [](Problem& p) { p.a.type = i8, p.scalars = VKGEMM_SCALARS_MONITOR; },
         VKGEMM_ERROR_UNSUPPORTED,
         {"f32", "i32"}},
        {"scalars of groups",
         [](Problem& p) { p.grouping = VKGEMM_GROUPING_TABLE, p.scalars = VKGEMM_SCALARS_ALPHA; },
         VKGEMM_ERROR_UNSUPPORTED,
         {"grouped", "scalars"}},
        {"beta in memory and no C",
         [](Problem& p) { p.scalars = VKGEMM_SCALARS_BETA; },
         VKGEMM_ERROR_INVALID_PROBLEM,
         {"beta", "no C"}},
        {"bounds in memory and no clamp",
         [](Problem& p) { p.scalars = VKGEMM_SCALARS_CLAMP; },
         VKGEMM_ERROR_INVALID_PROBLEM,
         {"clamp", "none"}},
        {"a clamp whose bounds are not in memory beside scalars that are",
         [](Problem& p) {
             p.scalars = VKGEMM_SCALARS_ALPHA;
             p.epilogue = {{VKGEMM_STEP_CLAMP, 0, 1}};
         },
         VKGEMM_ERROR_UNSUPPORTED,
         {"VKGEMM_SCALARS_CLAMP"}},
        {"no slope",
         [](Problem& p) {
             p.epilogue = {{VKGEMM_STEP_LEAKY_RELU, NAN}};
         },
         VKGEMM_ERROR_INVALID_PROBLEM,
         {"leaky=", "finite slope", "nan"}},
        {"split accuracy of f16",
         [](Problem& p) { p.accuracy = VKGEMM_ACCURACY_F32_SPLIT, p.a.type = p.b.type = f16; },
         VKGEMM_ERROR_UNSUPPORTED,
         {"f32_split", "not for f16", "default"}},
        {"a step twice",
         [](Problem& p) {
             p.epilogue = {{VKGEMM_STEP_RELU}, {VKGEMM_STEP_RELU}};
         },
         VKGEMM_ERROR_INVALID_PROBLEM,
         {"twice"}},
        {"two biases",
         [](Problem& p) {
             p.epilogue = {{VKGEMM_STEP_BIAS_ROW}, {VKGEMM_STEP_BIAS_COL}};
         },
         VKGEMM_ERROR_INVALID_PROBLEM,
         {"bias=row and bias=col", "one operand"}},
        {"two scales",
         [](Problem& p) {
             p.epilogue = {{VKGEMM_STEP_SCALE_ROW}, {VKGEMM_STEP_SCALE_ALL}};
         },
         VKGEMM_ERROR_INVALID_PROBLEM,
         {"scale=row and scale=all", "one operand"}},
        {"a residual to add and one for the derivative of ReLU",
         [](Problem& p) {
             p.epilogue = {{VKGEMM_STEP_RESIDUAL}, {VKGEMM_STEP_DRELU}};
         },
         VKGEMM_ERROR_INVALID_PROBLEM,
         {"residual and act=drelu", "one operand"}},
        {"a residual at addresses",
         [](Problem& p) { p.grouping = VKGEMM_GROUPING_ADDRESSES, p.epilogue = {{VKGEMM_STEP_DRELU}}; },
         VKGEMM_ERROR_UNSUPPORTED,
         {"act=drelu", "addresses", "VKGEMM_GROUPING_TABLE"}},
        {"a list with an empty step",
         [](Problem& p) {
             p.epilogue = {{VKGEMM_STEP_NONE}, {VKGEMM_STEP_RELU}};
         },
         VKGEMM_ERROR_INVALID_PROBLEM,
         {"kind 0", "1 to 14"}},
        {"five steps", [](Problem& p) { p.epilogue.count = 5; }, VKGEMM_ERROR_INVALID_PROBLEM, {"5", "limit is 4"}},
        {"an unknown step",
         [](Problem& p) { p.epilogue = {{static_cast<VkgemmStepKind>(15)}}; },
         VKGEMM_ERROR_INVALID_PROBLEM,
         {"15"}},
        {"an unknown step beyond every table",
         [](Problem& p) { p.epilogue = {{static_cast<VkgemmStepKind>(255)}}; },
         VKGEMM_ERROR_INVALID_PROBLEM,
         {"255"}},
        {"gelu of integers",
         [](Problem& p) { p.a.type = i32, p.epilogue = {{VKGEMM_STEP_GELU}}; },
         VKGEMM_ERROR_INVALID_PROBLEM,
         {"act=gelu", "i32"}},
        {"clamp upside down",
         [](Problem& p) {
             p.epilogue = {{VKGEMM_STEP_CLAMP, 2, 1}};
         },
         VKGEMM_ERROR_INVALID_PROBLEM,
         {"low <= high", "2", "1"}},
        {"clamp to NaN",
         [](Problem& p) {
             p.epilogue = {{VKGEMM_STEP_CLAMP, NAN, 1}};
         },
         VKGEMM_ERROR_INVALID_PROBLEM,
         {"low <= high", "nan"}},
    };
    for (const Row& row : rows) {
        Problem p = of_size(2, 3, 4);
        row.change(p);
        const Result<Problem> result = complete(p);
        INFO(row.what);
        REQUIRE(!result);
        CHECK(result.status().code == row.kind);
        for (const std::string& word : row.words)
            CHECK_MESSAGE(result.status().text.find(word) != std::string::npos, "'", word,
                          "' is not in: ", result.status().text);
    }
}

TEST_CASE("complete() accepts what is unusual but sound") {
    const std::function<void(Problem&)> changes[] = {
        [](Problem& p) { p.m = 0; },
        [](Problem& p) { p.n = 0, p.batch = 3; },
        [](Problem& p) { p.k = 0, p.cSource = VKGEMM_C_IS_D; },
        [](Problem& p) { p.batch = 3, p.a.batchStride = 1; },  // matrices of A may share elements: they are only read
        [](Problem& p) { p.batch = 1, p.d.batchStride = broadcast; },
        [](Problem& p) { p.batch = 8, p.d.batchStride = 3, p.d.ld = 24; },  // side by side in rows of 24
        [](Problem& p) {
            p.batch = 8, p.d.batchStride = 4, p.d.ld = 31;
        },  // with a column between, but none at the end
        [](Problem& p) { p.batch = 8, p.d.layout = columnMajor, p.d.batchStride = 2, p.d.ld = 16; },
        [](Problem& p) { p.cSource = VKGEMM_C_SEPARATE, p.batch = 2, p.c.batchStride = broadcast; },
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

TEST_CASE("span_elements() reaches the last element and no further") {
    const Matrix rows{f32, rowMajor, 10, 100}, cols{f32, columnMajor, 10, 100};
    CHECK(span_elements(rows, 3, 4, 1) == 24);
    CHECK(span_elements(cols, 3, 4, 1) == 33);
    CHECK(span_elements(rows, 3, 4, 5) == 424);
    CHECK(span_elements(rows, 0, 4, 5) == 0);
    CHECK(span_elements(rows, 3, 4, 0) == 0);
    CHECK(span_elements({f32, rowMajor, UINT64_MAX, 0}, 2, 1, 1) == std::nullopt);
    CHECK(span_elements({f32, rowMajor, UINT64_MAX - 1, 0}, 2, 1, 1) == UINT64_MAX);
}
