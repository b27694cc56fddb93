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
    out.a = filled(Guarded(*p.a.type, p.a, p.m, p.k, p.batch));
    out.b = filled(Guarded(*p.b.type, p.b, p.k, p.n, p.batch));
    out.c = filled(Guarded(*p.c.type, p.c, p.m, p.n, p.batch));
    out.d = filled(Guarded(*p.d.type, p.d, p.m, p.n, p.batch));
    out.residual = filled(Guarded(*p.d.type, p.d, p.m, p.n, p.batch));
    out.bias = filled(Guarded::vector(*p.d.type, p.m + p.n));
    out.scale = filled(Guarded::vector(*p.d.type, p.m + p.n));
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
    p.c_source = static_cast<CSource>(random.below(3));
    for (Matrix* x : {&p.a, &p.b, &p.d}) x->layout = static_cast<Layout>(random.below(2));
    if (p.c_source == CSource::separate) p.c.layout = static_cast<Layout>(random.below(2));
    if (random.one_in(3)) p.a.ld = 8;
    if (random.one_in(3)) p.d.ld = 9;
    if (random.one_in(2)) p.b.stride = broadcast;
    if (random.one_in(3)) p.a.stride = broadcast;
    if (random.one_in(4)) p.d.stride = 100;
    const StepKind biases[] = {StepKind::bias_row, StepKind::bias_col},
                   scales[] = {StepKind::scale_row, StepKind::scale_col, StepKind::scale_all};
    size_t steps = 0;
    if (random.one_in(2)) p.epilogue[steps++].kind = biases[random.below(2)];
    if (random.one_in(2)) p.epilogue[steps++].kind = scales[random.below(3)];
    if (random.one_in(2)) p.epilogue[steps++].kind = StepKind::residual;
    if (random.one_in(2)) p.epilogue[steps++].kind = StepKind::relu;
    return p;
}

}  // namespace

TEST_CASE("complete() fills in types") {
    const struct {
        std::optional<Type> a;
        Type b, accumulate, d;
    } rows[] = {{std::nullopt, Type::f32, Type::f32, Type::f32}, {Type::f32, Type::f32, Type::f32, Type::f32},
                {Type::f16, Type::f16, Type::f32, Type::f16},    {Type::bf16, Type::bf16, Type::f32, Type::bf16},
                {Type::f64, Type::f64, Type::f64, Type::f64},    {Type::i32, Type::i32, Type::i32, Type::i32},
                {Type::i8, Type::i8, Type::i32, Type::i32},      {Type::u8, Type::u8, Type::i32, Type::i32}};
    for (const auto& row : rows) {
        Problem p = of_size(2, 3, 4);
        p.a.type = row.a;
        const Result<Problem> full = complete(p);
        REQUIRE(full);
        CHECK(full->a.type == row.a.value_or(Type::f32));
        CHECK(full->b.type == row.b);
        CHECK(full->accumulate == row.accumulate);
        CHECK(full->d.type == row.d);
        CHECK(full->c.type == row.d);
    }
}

TEST_CASE("complete() fills in leading dimensions and strides") {
    Problem p = of_size(2, 3, 4, 5);
    p.b.layout = Layout::column_major;
    p.a.stride = broadcast;
    p.d.ld = 7;
    const Result<Problem> full = complete(p);
    REQUIRE(full);
    CHECK(full->a.ld == 4);
    CHECK(full->a.stride == 0);  // broadcast
    CHECK(full->b.ld == 4);      // k, for a column of B has k elements
    CHECK(full->b.stride == 12);
    CHECK(full->d.ld == 7);
    CHECK(full->d.stride == 14);

    const Result<Problem> single = complete(of_size(2, 3, 4));
    REQUIRE(single);
    CHECK(single->d.stride == 0);

    const Result<Problem> hollow = complete(of_size(2, 3, 0));
    REQUIRE(hollow);
    CHECK(hollow->a.ld >= 1);  // nothing is read, but a leading dimension is never 0
}

TEST_CASE("complete() names the rule that a problem breaks") {
    struct Row {
        std::string what;
        std::function<void(Problem&)> change;
        Refusal::Kind kind;
        std::vector<std::string> words;
    };
    const Row rows[] = {
        {"lda below the row", [](Problem& p) { p.a.ld = 3; }, Refusal::problem, {"lda", "3", "row", "4"}},
        {"ldb below the row", [](Problem& p) { p.b.ld = 2; }, Refusal::problem, {"ldb", "2", "3"}},
        {"lda below the column",
         [](Problem& p) { p.a.layout = Layout::column_major, p.a.ld = 1; },
         Refusal::problem,
         {"lda", "column", "2"}},
        {"ldd below the row", [](Problem& p) { p.d.ld = 1; }, Refusal::problem, {"ldd", "1", "3"}},
        {"ldc below the row",
         [](Problem& p) { p.c_source = CSource::separate, p.c.ld = 2; },
         Refusal::problem,
         {"ldc", "2", "3"}},
        {"D broadcast",
         [](Problem& p) { p.batch = 2, p.d.stride = broadcast; },
         Refusal::problem,
         {"D", "broadcast", "2"}},
        {"D overlaps itself", [](Problem& p) { p.batch = 2, p.d.stride = 5; }, Refusal::problem, {"stride", "5", "6"}},
        {"D side by side, narrower than a row",
         [](Problem& p) { p.batch = 2, p.d.stride = 2, p.d.ld = 100; },
         Refusal::problem,
         {"stride_d is 2", "2 of them", "100", "overwrite"}},
        {"D side by side, one column too few for all",
         [](Problem& p) { p.batch = 8, p.d.stride = 3, p.d.ld = 23; },
         Refusal::problem,
         {"stride_d is 3", "8 of them", "23", "overwrite"}},
        {"columns of D side by side, one row too few",
         [](Problem& p) { p.batch = 8, p.d.layout = Layout::column_major, p.d.stride = 2, p.d.ld = 15; },
         Refusal::problem,
         {"stride_d is 2", "8 of them", "15"}},
        {"A beyond 2^64", [](Problem& p) { p.a.ld = UINT64_MAX; }, Refusal::problem, {"a spans", "2^64"}},
        {"B beyond 2^64 by its batch",
         [](Problem& p) { p.batch = 3, p.b.stride = UINT64_MAX - 1; },
         Refusal::problem,
         {"b spans", "2^64"}},
        {"m*k beyond 2^64", [](Problem& p) { p.m = p.k = uint64_t{1} << 40; }, Refusal::problem, {"2^64"}},
        {"C described but absent", [](Problem& p) { p.c.ld = 3; }, Refusal::problem, {"ldc", "cSource", "c=separate"}},
        {"C is D but described",
         [](Problem& p) { p.c_source = CSource::is_d, p.c.ld = 3; },
         Refusal::problem,
         {"C is D"}},
        {"C of another type",
         [](Problem& p) { p.c_source = CSource::separate, p.c.type = Type::f16; },
         Refusal::unsupported,
         {"C", "f16", "f32"}},
        {"split accuracy of f16",
         [](Problem& p) { p.accuracy = Accuracy::f32_split, p.a.type = p.b.type = Type::f16; },
         Refusal::unsupported,
         {"f32_split", "not for f16", "default"}},
        {"a step twice",
         [](Problem& p) { p.epilogue[0].kind = p.epilogue[1].kind = StepKind::relu; },
         Refusal::problem,
         {"twice"}},
        {"two biases",
         [](Problem& p) { p.epilogue[0].kind = StepKind::bias_row, p.epilogue[1].kind = StepKind::bias_col; },
         Refusal::problem,
         {"one bias"}},
        {"two scales",
         [](Problem& p) { p.epilogue[0].kind = StepKind::scale_row, p.epilogue[1].kind = StepKind::scale_all; },
         Refusal::problem,
         {"one scale"}},
        {"a gap", [](Problem& p) { p.epilogue[1].kind = StepKind::relu; }, Refusal::problem, {"gap"}},
        {"an unknown step",
         [](Problem& p) { p.epilogue[0].kind = static_cast<StepKind>(11); },
         Refusal::problem,
         {"11"}},
        {"an unknown step beyond every table",
         [](Problem& p) { p.epilogue[0].kind = static_cast<StepKind>(255); },
         Refusal::problem,
         {"255"}},
        {"gelu of integers",
         [](Problem& p) { p.a.type = Type::i32, p.epilogue[0].kind = StepKind::gelu; },
         Refusal::problem,
         {"GELU", "i32"}},
        {"clamp upside down",
         [](Problem& p) {
             p.epilogue[0] = {StepKind::clamp, 2, 1};
         },
         Refusal::problem,
         {"low <= high", "2", "1"}},
        {"clamp to NaN",
         [](Problem& p) {
             p.epilogue[0] = {StepKind::clamp, NAN, 1};
         },
         Refusal::problem,
         {"low <= high", "nan"}},
    };
    for (const Row& row : rows) {
        Problem p = of_size(2, 3, 4);
        row.change(p);
        const Result<Problem> result = complete(p);
        INFO(row.what);
        REQUIRE(!result);
        CHECK(result.refusal().kind == row.kind);
        for (const std::string& word : row.words)
            CHECK_MESSAGE(result.refusal().why.find(word) != std::string::npos, "'", word,
                          "' is not in: ", result.refusal().why);
    }
}

TEST_CASE("complete() accepts what is unusual but sound") {
    const std::function<void(Problem&)> changes[] = {
        [](Problem& p) { p.m = 0; },
        [](Problem& p) { p.n = 0, p.batch = 3; },
        [](Problem& p) { p.k = 0, p.c_source = CSource::is_d; },
        [](Problem& p) { p.batch = 3, p.a.stride = 1; },  // matrices of A may share elements: they are only read
        [](Problem& p) { p.batch = 1, p.d.stride = broadcast; },
        [](Problem& p) { p.batch = 8, p.d.stride = 3, p.d.ld = 24; },  // side by side in rows of 24
        [](Problem& p) { p.batch = 8, p.d.stride = 4, p.d.ld = 31; },  // with a column between, but none at the end
        [](Problem& p) { p.batch = 8, p.d.layout = Layout::column_major, p.d.stride = 2, p.d.ld = 16; },
        [](Problem& p) { p.c_source = CSource::separate, p.batch = 2, p.c.stride = broadcast; },
        [](Problem& p) {
            p.epilogue[0] = {StepKind::clamp, -INFINITY, INFINITY};
        },
    };
    for (size_t i = 0; i < std::size(changes); ++i) {
        CAPTURE(i);
        Problem p = of_size(2, 3, 4);
        changes[i](p);
        const Result<Problem> result = complete(p);
        const bool accepted = bool(result);
        CHECK_MESSAGE(accepted, result.refusal().why);
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
        REQUIRE_MESSAGE(n.problem.d.layout == Layout::row_major, "seed ", seed);
    }
    CHECK(transposed > 500);  // the sample must hold what it is meant to show
    CHECK(merged > 50);
}

TEST_CASE("normalise() makes one product of a batch where it can") {
    Problem p = of_size(4, 3, 5, 6);
    p.b.stride = broadcast;
    const Normalised n = normalise(*complete(p));
    CHECK(n.problem.m == 24);
    CHECK(n.problem.batch == 1);

    p.epilogue[0].kind = StepKind::bias_row;  // the row within its own matrix would be lost
    CHECK(normalise(*complete(p)).problem.batch == 6);
    p.epilogue[0].kind = StepKind::bias_col;
    CHECK(normalise(*complete(p)).problem.batch == 1);
    p.d.stride = 13;
    CHECK(normalise(*complete(p)).problem.batch == 6);
}

TEST_CASE("span_elements() reaches the last element and no further") {
    const Matrix rows{Type::f32, Layout::row_major, 10, 100}, cols{Type::f32, Layout::column_major, 10, 100};
    CHECK(span_elements(rows, 3, 4, 1) == 24);
    CHECK(span_elements(cols, 3, 4, 1) == 33);
    CHECK(span_elements(rows, 3, 4, 5) == 424);
    CHECK(span_elements(rows, 0, 4, 5) == 0);
    CHECK(span_elements(rows, 3, 4, 0) == 0);
    CHECK(span_elements({Type::f32, Layout::row_major, UINT64_MAX, 0}, 2, 1, 1) == std::nullopt);
    CHECK(span_elements({Type::f32, Layout::row_major, UINT64_MAX - 1, 0}, 2, 1, 1) == UINT64_MAX);
}
