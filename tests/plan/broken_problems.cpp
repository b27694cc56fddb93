// SPDX-License-Identifier: MIT
// complete() names the rule that a problem breaks.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>

#include "plan/problem/problem_text.h"
#include "support/string_util.h"

using namespace vkgemm::plan;
using namespace vkgemm::test;

TEST_CASE("complete() names the rule that a problem breaks") {
    const size_t steps = std::size(step_info);
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
         [](Problem& p) {
             p.a.layout = columnMajor;
             p.a.ld = 1;
         },
         VKGEMM_ERROR_INVALID_PROBLEM,
         {"lda", "column", "2"}},
        {"ldd below the row", [](Problem& p) { p.d.ld = 1; }, VKGEMM_ERROR_INVALID_PROBLEM, {"ldd", "1", "3"}},
        {"ldc below the row",
         [](Problem& p) {
             p.cSource = VKGEMM_C_SEPARATE;
             p.c.ld = 2;
         },
         VKGEMM_ERROR_INVALID_PROBLEM,
         {"ldc", "2", "3"}},
        {"D broadcast",
         [](Problem& p) {
             p.batch = 2;
             p.d.batchStride = broadcast;
         },
         VKGEMM_ERROR_INVALID_PROBLEM,
         {"D", "broadcast", "2"}},
        {"D overlaps itself",
         [](Problem& p) {
             p.batch = 2;
             p.d.batchStride = 5;
         },
         VKGEMM_ERROR_INVALID_PROBLEM,
         {"stride", "5", "6"}},
        {"D side by side, narrower than a row",
         [](Problem& p) {
             p.batch = 2;
             p.d.batchStride = 2;
             p.d.ld = 100;
         },
         VKGEMM_ERROR_INVALID_PROBLEM,
         {"stride_d is 2", "2 of them", "100", "overwrite"}},
        {"D side by side, one column too few for all",
         [](Problem& p) {
             p.batch = 8;
             p.d.batchStride = 3;
             p.d.ld = 23;
         },
         VKGEMM_ERROR_INVALID_PROBLEM,
         {"stride_d is 3", "8 of them", "23", "overwrite"}},
        {"columns of D side by side, one row too few",
         [](Problem& p) {
             p.batch = 8;
             p.d.layout = columnMajor;
             p.d.batchStride = 2;
             p.d.ld = 15;
         },
         VKGEMM_ERROR_INVALID_PROBLEM,
         {"stride_d is 2", "8 of them", "15"}},
        {"A beyond 2^64", [](Problem& p) { p.a.ld = UINT64_MAX; }, VKGEMM_ERROR_INVALID_PROBLEM, {"a spans", "2^64"}},
        {"B beyond 2^64 by its batch",
         [](Problem& p) {
             p.batch = 3;
             p.b.batchStride = UINT64_MAX - 1;
         },
         VKGEMM_ERROR_INVALID_PROBLEM,
         {"b spans", "2^64"}},
        {"m*k beyond 2^64", [](Problem& p) { p.m = p.k = uint64_t{1} << 40; }, VKGEMM_ERROR_INVALID_PROBLEM, {"2^64"}},
        {"C described but absent",
         [](Problem& p) { p.c.ld = 3; },
         VKGEMM_ERROR_INVALID_PROBLEM,
         {"ldc", "cSource", "c=separate"}},
        {"C is D but described",
         [](Problem& p) {
             p.cSource = VKGEMM_C_IS_D;
             p.c.ld = 3;
         },
         VKGEMM_ERROR_INVALID_PROBLEM,
         {"C is D"}},
        {"C of a type that D cannot have beside it",
         [](Problem& p) {
             p.cSource = VKGEMM_C_SEPARATE;
             p.c.type = i8;
         },
         VKGEMM_ERROR_UNSUPPORTED,
         {"C is i8", "f32, f16 or bf16"}},
        {"C is D and has a type",
         [](Problem& p) {
             p.cSource = VKGEMM_C_IS_D;
             p.c.type = f16;
         },
         VKGEMM_ERROR_INVALID_PROBLEM,
         {"C is D", "f32"}},
        {"the type of a bias that there is not",
         [](Problem& p) { p.biasType = f16; },
         VKGEMM_ERROR_INVALID_PROBLEM,
         {"bias", "f16", "none"}},
        {"f64 beside another type",
         [](Problem& p) {
             p.a.type = f64;
             p.epilogue = {{VKGEMM_STEP_SCALE_ALL}};
             p.scaleType = f32;
         },
         VKGEMM_ERROR_UNSUPPORTED,
         {"scale is f32", "f64, D's type"}},
        {"whole sums beside another type",
         [](Problem& p) {
             p.a.type = i8;
             p.epilogue = {{VKGEMM_STEP_BIAS_COL}};
             p.biasType = f32;
         },
         VKGEMM_ERROR_UNSUPPORTED,
         {"bias is f32", "i32, D's type"}},
        {"a whole bias that comes late",
         [](Problem& p) {
             p.a.type = i8;
             p.d.type = f16;
             p.biasType = i32;
             p.epilogue = {{VKGEMM_STEP_SCALE_ALL}, {VKGEMM_STEP_BIAS_COL}};
         },
         VKGEMM_ERROR_UNSUPPORTED,
         {"bias is i32", "first step"}},
        {"a scale of i8",
         [](Problem& p) {
             p.a.type = p.d.type = i8;
             p.scaleType = i8;
             p.accumulate = i32;
             p.epilogue = {{VKGEMM_STEP_SCALE_ALL}};
         },
         VKGEMM_ERROR_UNSUPPORTED,
         {"scale is i8", "f32, f16 or bf16"}},
        {"C of its own type, of groups",
         [](Problem& p) {
             p.grouping = VKGEMM_GROUPING_TABLE;
             p.c.type = f16;
             p.cSource = VKGEMM_C_SEPARATE;
         },
         VKGEMM_ERROR_UNSUPPORTED,
         {"C is f16", "grouped", "f32"}},
        {"a residual of its own type, of groups",
         [](Problem& p) {
             p.grouping = VKGEMM_GROUPING_TABLE;
             p.residualType = f16;
             p.epilogue = {{VKGEMM_STEP_RESIDUAL}};
         },
         VKGEMM_ERROR_UNSUPPORTED,
         {"residual is f16", "grouped", "f32"}},
        {"scalars of f64",
         [](Problem& p) {
             p.a.type = f64;
             p.scalars = VKGEMM_SCALARS_ALPHA;
         },
         VKGEMM_ERROR_UNSUPPORTED,
         {"f32", "f64"}},
        {"scalars of whole sums",
         [](Problem& p) {
             p.a.type = i8;
             p.scalars = VKGEMM_SCALARS_MONITOR;
         },
         VKGEMM_ERROR_UNSUPPORTED,
         {"f32", "i32"}},
        {"scalars of groups",
         [](Problem& p) {
             p.grouping = VKGEMM_GROUPING_TABLE;
             p.scalars = VKGEMM_SCALARS_ALPHA;
         },
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
         [](Problem& p) {
             p.accuracy = VKGEMM_ACCURACY_F32_SPLIT;
             p.a.type = p.b.type = f16;
         },
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
        {"a pair after another step",
         [](Problem& p) {
             p.epilogue = {{VKGEMM_STEP_RELU}, {VKGEMM_STEP_PAIR_SILU}};
         },
         VKGEMM_ERROR_INVALID_PROBLEM,
         {"a pair", "first step", "bias"}},
        {"two pairs",
         [](Problem& p) {
             p.epilogue = {{VKGEMM_STEP_PAIR_RELU}, {VKGEMM_STEP_PAIR_SILU}};
         },
         VKGEMM_ERROR_INVALID_PROBLEM,
         {"pair=relu and pair=silu", "one operand"}},
        {"a pair and a residual",
         [](Problem& p) {
             p.epilogue = {{VKGEMM_STEP_PAIR_SILU}, {VKGEMM_STEP_RESIDUAL}};
         },
         VKGEMM_ERROR_UNSUPPORTED,
         {"pair=silu", "residual", "two plans", "gate=silu"}},
        {"a pair with a C",
         [](Problem& p) {
             p.cSource = VKGEMM_C_IS_D;
             p.epilogue = {{VKGEMM_STEP_PAIR_SILU}};
         },
         VKGEMM_ERROR_UNSUPPORTED,
         {"pair=silu", "with a C", "gate=silu"}},
        {"a pair whose D is column-major",
         [](Problem& p) {
             p.d.layout = columnMajor;
             p.epilogue = {{VKGEMM_STEP_BIAS_COL}, {VKGEMM_STEP_PAIR_GELU}};
         },
         VKGEMM_ERROR_UNSUPPORTED,
         {"pair=gelu", "column-major D"}},
        {"a pair of groups",
         [](Problem& p) {
             p.grouping = VKGEMM_GROUPING_TABLE;
             p.epilogue = {{VKGEMM_STEP_PAIR_RELU}};
         },
         VKGEMM_ERROR_UNSUPPORTED,
         {"pair=relu", "groups"}},
        {"a pair whose B comes packed",
         [](Problem& p) {
             p.packedB = VKGEMM_PACKED_ANY;
             p.epilogue = {{VKGEMM_STEP_PAIR_RELU}};
         },
         VKGEMM_ERROR_UNSUPPORTED,
         {"pair=relu", "packed"}},
        {"a residual at addresses",
         [](Problem& p) {
             p.grouping = VKGEMM_GROUPING_ADDRESSES;
             p.epilogue = {{VKGEMM_STEP_DRELU}};
         },
         VKGEMM_ERROR_UNSUPPORTED,
         {"act=drelu", "addresses", "VKGEMM_GROUPING_TABLE"}},
        {"a list with an empty step",
         [](Problem& p) {
             p.epilogue = {{VKGEMM_STEP_NONE}, {VKGEMM_STEP_RELU}};
         },
         VKGEMM_ERROR_INVALID_PROBLEM,
         {"kind 0", "1 to " + std::to_string(steps)}},
        {"five steps", [](Problem& p) { p.epilogue.count = 5; }, VKGEMM_ERROR_INVALID_PROBLEM, {"5", "limit is 4"}},
        {"an unknown step",
         [](Problem& p) { p.epilogue = {{static_cast<VkgemmStepKind>(std::size(step_info) + 1)}}; },
         VKGEMM_ERROR_INVALID_PROBLEM,
         {std::to_string(steps + 1)}},
        {"an unknown step beyond every table",
         [](Problem& p) { p.epilogue = {{static_cast<VkgemmStepKind>(255)}}; },
         VKGEMM_ERROR_INVALID_PROBLEM,
         {"255"}},
        {"gelu of integers",
         [](Problem& p) {
             p.a.type = i32;
             p.epilogue = {{VKGEMM_STEP_GELU}};
         },
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
        Problem p{.m = 2, .n = 3, .k = 4};
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

TEST_CASE("complete() names what blocks of elements, selected matrices and invariance rule out") {
    const struct {
        const char* line;
        std::vector<std::string> words;
    } rows[] = {
        {"f16*q8_0 8x8x64 layout=nt upto=k", {"k cannot vary", "blocks of 32", "upTo"}},
        {"f16*q4_k 8x8x256", {"B must be column-major"}},
        {"q4_k*f16 8x8x256 layout=tn", {"A must be row-major"}},
        {"1x8x8 batch=3 groups=selected upto=n", {"fixed sizes", "upTo (2)"}},
        {"8x8x8 invariant upto=ms", {"strides cannot vary with batchInvariant"}},
    };
    for (const auto& row : rows) {
        CAPTURE(row.line);
        const Result<ProblemText> read = parse_problem(row.line);
        REQUIRE_MESSAGE(bool(read), read.status().text);
        const Result<Problem> result = complete(read->problem);
        REQUIRE(!result);
        for (const std::string& word : row.words)
            CHECK_MESSAGE(has_words(result.status().text, word), result.status().text);
    }
}
