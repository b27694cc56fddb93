// SPDX-License-Identifier: MIT
// complete() names the rule that a problem breaks.
#include <doctest/doctest.h>

#include <vector>

#include "plan/problem/problem_text.h"
#include "support/string_util.h"

using namespace vkgemm::plan;
using namespace vkgemm::test;

namespace {

constexpr VkgemmResult invalid = VKGEMM_ERROR_INVALID_PROBLEM, unsupported = VKGEMM_ERROR_UNSUPPORTED;

void check_refusal(const Problem& broken, VkgemmResult code, const std::vector<std::string>& words) {
    const Result<Problem> result = complete(broken);
    REQUIRE(!result);
    CHECK(result.status().code == code);
    for (const std::string& word : words)
        CHECK_MESSAGE(has_words(result.status().text, word), "'", word, "' is not in: ", result.status().text);
}

const struct {
    const char* line;
    VkgemmResult code;
    std::vector<std::string> words;
} broken_lines[] = {
    {"2x3x4 lda=3", invalid, {"lda", "3", "row", "4"}},
    {"2x3x4 ldb=2", invalid, {"ldb", "2", "3"}},
    {"2x3x4 layout=tn lda=1", invalid, {"lda", "column", "2"}},
    {"2x3x4 ldd=1", invalid, {"ldd", "1", "3"}},
    {"2x3x4 c=separate ldc=2", invalid, {"ldc", "2", "3"}},
    {"2x3x4 batch=2 stride_d=0", invalid, {"D", "broadcast", "2"}},
    {"2x3x4 batch=2 stride_d=5", invalid, {"stride", "5", "6"}},
    // D side by side: narrower than a row, one column too few for all, one row too few.
    {"2x3x4 batch=2 stride_d=2 ldd=100", invalid, {"stride_d is 2", "2 of them", "100", "overwrite"}},
    {"2x3x4 batch=8 stride_d=3 ldd=23", invalid, {"stride_d is 3", "8 of them", "23", "overwrite"}},
    {"2x3x4 batch=8 layout_d=t stride_d=2 ldd=15", invalid, {"stride_d is 2", "8 of them", "15"}},
    {"2x3x4 lda=18446744073709551615", invalid, {"a spans", "2^64"}},
    {"2x3x4 batch=3 stride_b=18446744073709551614", invalid, {"b spans", "2^64"}},
    {"1099511627776x3x1099511627776", invalid, {"2^64"}},
    // C and operands of types of their own.
    {"2x3x4 ldc=3", invalid, {"ldc", "cSource", "c=separate"}},
    {"2x3x4 c=d ldc=3", invalid, {"C is D"}},
    {"2x3x4 c=separate c_type=i8", unsupported, {"C is i8", "f32, f16 or bf16"}},
    {"2x3x4 c=d c_type=f16", invalid, {"C is D", "f32"}},
    {"2x3x4 bias_type=f16", invalid, {"bias", "f16", "none"}},
    {"f64*f64 2x3x4 scale=all scale_type=f32", unsupported, {"scale is f32", "f64, D's type"}},
    {"i8*i8 2x3x4 bias=col bias_type=f32", unsupported, {"bias is f32", "i32, D's type"}},
    {"i8*i8->f16 2x3x4 bias_type=i32 scale=all bias=col", unsupported, {"bias is i32", "first step"}},
    {"i8*i8+i32->i8 2x3x4 scale=all scale_type=i8", unsupported, {"scale is i8", "f32, f16 or bf16"}},
    {"2x3x4 groups=table c=separate c_type=f16", unsupported, {"C is f16", "grouped", "f32"}},
    {"2x3x4 groups=table residual residual_type=f16", unsupported, {"residual is f16", "grouped", "f32"}},
    // Scalars in memory.
    {"f64*f64 2x3x4 scalars=alpha", unsupported, {"f32", "f64"}},
    {"i8*i8 2x3x4 scalars=monitor", unsupported, {"f32", "i32"}},
    {"2x3x4 groups=table scalars=alpha", unsupported, {"grouped", "scalars"}},
    {"2x3x4 scalars=beta", invalid, {"beta", "no C"}},
    {"2x3x4 scalars=clamp", invalid, {"clamp", "none"}},
    {"2x3x4 scalars=alpha clamp=0:1", unsupported, {"VKGEMM_SCALARS_CLAMP"}},
    // Steps.
    {"2x3x4 leaky=nan", invalid, {"leaky=", "finite slope", "nan"}},
    {"2x3x4 act=relu act=relu", invalid, {"twice"}},
    {"2x3x4 bias=row bias=col", invalid, {"bias=row and bias=col", "one operand"}},
    {"2x3x4 scale=row scale=all", invalid, {"scale=row and scale=all", "one operand"}},
    {"2x3x4 residual act=drelu", invalid, {"residual and act=drelu", "one operand"}},
    {"2x3x4 act=relu pair=silu", invalid, {"a pair", "first step", "bias"}},
    {"2x3x4 pair=relu pair=silu", invalid, {"pair=relu and pair=silu", "one operand"}},
    {"2x3x4 pair=silu residual", unsupported, {"pair=silu", "residual", "two plans", "gate=silu"}},
    {"2x3x4 c=d pair=silu", unsupported, {"pair=silu", "with a C", "gate=silu"}},
    {"2x3x4 layout_d=t bias=col pair=gelu", unsupported, {"pair=gelu", "column-major D"}},
    {"2x3x4 groups=table pair=relu", unsupported, {"pair=relu", "groups"}},
    {"2x3x4 packed_b=any pair=relu", unsupported, {"pair=relu", "packed"}},
    {"2x3x4 groups=addresses act=drelu", unsupported, {"act=drelu", "addresses", "VKGEMM_GROUPING_TABLE"}},
    {"i32*i32 2x3x4 act=gelu", invalid, {"act=gelu", "i32"}},
    {"2x3x4 clamp=2:1", invalid, {"low <= high", "2", "1"}},
    {"2x3x4 clamp=nan:1", invalid, {"low <= high", "nan"}},
    // Accuracy, blocks of elements, selected matrices and invariance.
    {"f16*f16 2x3x4 accuracy=f32_split", unsupported, {"f32_split", "not for f16", "default"}},
    {"i32*i32 2x3x4 accuracy=f32_split", unsupported, {"f32_split", "i32"}},
    {"f16*q8_0 8x8x64 layout=nt accuracy=f32_split", unsupported, {"f32_split", "f16", "default"}},
    {"f16*f16 8x8x8 accuracy=narrow", unsupported, {"narrow", "two of f16", "default"}},
    {"f16*f16 8x8x8 accuracy=mxint8", unsupported, {"mxint8", "two of f16", "default"}},
    {"f16*f16->q8_0 8x8x32", unsupported, {"D cannot be q8_0"}},
    {"e4m3*e4m3->e4m3 8x8x32", unsupported, {"D cannot be e4m3", "only A and B", "floats of 8 bits"}},
    {"f16*e5m2->e5m2 8x8x32", unsupported, {"D cannot be e5m2", "only A and B", "floats of 8 bits"}},
    {"f16*f16+q8_0->f16 8x8x32", unsupported, {"accumulator cannot be q8_0"}},
    {"f16*q8_0 8x8x64 layout=nt c=separate c_type=f64", unsupported, {"C is f64", "D of f16", "f32, f16 or bf16"}},
    {"q4_k*f16 8x8x200", unsupported, {"A", "256 elements (q4_k)", "k is 200", "pad it to 256"}},
    {"f16*q4_k 8x8x300 layout=nt", unsupported, {"B", "q4_k", "k is 300", "512"}},
    {"f16*q8_0 8x8x64 layout=nt ldb=70", unsupported, {"B", "32", "dimension is 70", "96"}},
    {"f16*q8_0 8x8x64 layout=nt batch=2 stride_b=530", unsupported, {"B", "stride is 530", "544"}},
    {"f16*q8_0 8x8x64 layout=nt upto=k", unsupported, {"k cannot vary", "blocks of 32", "upTo"}},
    {"f16*q4_k 8x8x256", unsupported, {"B must be column-major", "'t'"}},
    {"q4_k*f16 8x8x256 layout=tn", unsupported, {"A must be row-major", "'n'"}},
    {"1x8x8 batch=3 groups=selected upto=n", unsupported, {"fixed sizes", "upTo (2)"}},
    {"8x8x8 invariant upto=ms", unsupported, {"strides cannot vary with batchInvariant"}},
};

}  // namespace

TEST_CASE("complete() names the rule that a problem breaks") {
    for (const auto& row : broken_lines) {
        CAPTURE(std::string(row.line));
        const Result<ProblemText> read = parse_problem(row.line);
        REQUIRE_MESSAGE(bool(read), read.status().text);
        check_refusal(read->problem, row.code, row.words);
    }
    for (const char* sound : {"q4_k*f16 8x8x256", "f16*q8_0 8x8x64 layout=nt batch=2 stride_b=0",
                              "f16*q8_0 8x8x64 layout=nt batch=2 stride_b=544 ldb=96", "f16*q8_0 8x8x0 layout=nt"})
        CHECK_MESSAGE(complete(parse_problem(sound)->problem), sound);
}

TEST_CASE("complete() names the rule that a list of steps without a text breaks") {
    const size_t steps = std::size(step_info);
    const auto refused = [](std::initializer_list<EpilogueStep> epilogue, const std::vector<std::string>& words) {
        Problem p{.m = 2, .n = 3, .k = 4};
        p.epilogue = epilogue;
        check_refusal(p, invalid, words);
    };
    refused({{VKGEMM_STEP_NONE}, {VKGEMM_STEP_RELU}}, {"kind 0", "1 to " + std::to_string(steps)});
    refused({{static_cast<VkgemmStepKind>(steps + 1)}}, {std::to_string(steps + 1)});
    refused({{static_cast<VkgemmStepKind>(255)}}, {"255"});  // beyond every table
    Problem five{.m = 2, .n = 3, .k = 4};
    five.epilogue.count = 5;
    check_refusal(five, invalid, {"5", "limit is 4"});
}
