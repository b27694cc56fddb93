// SPDX-License-Identifier: MIT
// Problems and devices as text: what is written is read back the same, what cannot be read is refused at its character.
#include <doctest/doctest.h>

#include <limits>

#include "plan/base/concat.h"
#include "plan/device/device_caps.h"
#include "plan/problem/problem_text.h"
#include "support/files.h"
#include "support/random.h"
#include "support/same.h"
#include "support/string_util.h"

using namespace vkgemm::plan;
using namespace vkgemm::test;

namespace {

Problem random_problem(Random& random) {
    Problem p;
    p.m = random.below(100);
    p.n = random.below(100);
    p.k = random.below(100);
    p.batch = 1 + random.below(3);
    if (random.one_in(3)) p.upTo = static_cast<uint32_t>(random.below(16));
    p.a.type = static_cast<Type>(1 + random.below(7));
    if (random.one_in(3)) p.b.type = static_cast<Type>(1 + random.below(7));
    if (random.one_in(3)) p.d.type = static_cast<Type>(1 + random.below(7));
    if (random.one_in(3)) p.accumulate = random.one_in(2) ? f32 : f16;
    p.cSource = static_cast<VkgemmC>(random.below(3));
    for (Matrix* x : {&p.a, &p.b, &p.d}) {
        x->layout = static_cast<Layout>(random.below(2));
        if (random.one_in(3)) x->ld = 100 + random.below(50);
        if (random.one_in(3)) x->batchStride = 20000 + random.below(50);
    }
    if (random.one_in(3)) p.a.batchStride = broadcast;
    p.batchInvariant = random.one_in(4);
    if (random.one_in(4)) {
        p.batch = 12;
        p.outerBatch = 6;
        p.ratioB = 1 + random.below(4);
        p.outerRatioA = 1 + random.below(3);
        if (random.one_in(2)) {
            p.outerStrideA = broadcast;
            p.outerStrideB = 1 + random.below(9);
        }
        if (random.one_in(2)) p.outerStrideD = 300000;
        p.upTo &= ~uint32_t{VKGEMM_UP_TO_BATCH};
    }
    if (p.cSource == VKGEMM_C_SEPARATE || random.one_in(4))  // else C is described for nothing, and refused
        p.c = {.type = VKGEMM_TYPE_DEFAULT,
               .layout = static_cast<Layout>(random.below(2)),
               .ld = random.one_in(2) ? 130u : 0,
               .batchStride = random.one_in(2) ? broadcast : 0};
    std::vector<EpilogueStep> steps = {{VKGEMM_STEP_BIAS_ROW, 0, 0},
                                       {VKGEMM_STEP_SCALE_ALL, 0, 0},
                                       {VKGEMM_STEP_RESIDUAL, 0, 0},
                                       {VKGEMM_STEP_RELU, 0, 0}};
    if (random.one_in(4)) p.biasType = static_cast<Type>(1 + random.below(7));
    if (random.one_in(4)) p.residualType = static_cast<Type>(1 + random.below(7));
    if (random.one_in(8)) p.c.type = static_cast<Type>(1 + random.below(7));
    if (info(p.accumulate == VKGEMM_TYPE_DEFAULT ? info(p.a.type).default_accumulator : p.accumulate).is_float)
        steps.push_back({VKGEMM_STEP_CLAMP, -1.5f, 0.1f});
    for (size_t i = 0; i < random.below(5); ++i) {
        const size_t at = random.below(steps.size());
        p.epilogue.add(steps[at]);
        steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(at));
    }
    return p;
}

std::string why(std::string_view line) {
    const Result<ProblemText> read = parse_problem(line);
    return read ? "" : read.status().text;
}

}  // namespace

TEST_CASE("concat: characters of all kinds, and whole numbers with their sign") {
    enum Enum { seven = 7 };
    const std::string four = "four";
    CHECK(concat({}) == "");
    CHECK(concat({"one ", std::string_view("two!", 3), '3', four, uint8_t{5}, -6, seven}) == "one two3four5-67");
    CHECK(concat({UINT64_MAX, " ", INT64_MIN, " ", 0}) == "18446744073709551615 -9223372036854775808 0");
}

TEST_CASE("problems survive being written and read") {
    const double factors[] = {0, 1, -1, 0.5, 1e-300, 0.1, -3.25e17, 1.0 / 3};
    for (uint64_t seed = 1; seed <= 5000; ++seed) {
        Random random(seed);
        const Problem p = random_problem(random);
        const double alpha = random.pick(std::to_array(factors)), beta = random.pick(std::to_array(factors));
        const std::string line = to_text(p, alpha, beta);
        const Result<ProblemText> read = parse_problem(line);
        INFO("seed ", seed, ": ", line);
        REQUIRE(read);
        CHECK(read->alpha == alpha);
        CHECK(read->beta == beta);
        CHECK(to_text(read->problem, alpha, beta) == line);
        const Result<Problem> before = complete(p), after = complete(read->problem);
        REQUIRE(bool(before) == bool(after));
        if (before) CHECK(same(*before, *after));
    }
}

TEST_CASE("what is at its default is left out") {
    const struct {
        std::string read, written;
    } rows[] = {
        {"64x128x256", "f32*f32+f32->f32 64x128x256"},
        {"f16*f16 1x2x3 batch=1 alpha=1 beta=0 c=none layout=nn layout_d=n", "f16*f16+f32->f16 1x2x3"},
        {"f16*f16+f32->f16 64x128x256 batch=4 layout=nt ldb=160 beta=1 bias=col act=gelu",
         "f16*f16+f32->f16 64x128x256 batch=4 layout=nt ldb=160 beta=1 bias=col act=gelu"},
        {"  i8*i8   1x1x1\t", "i8*i8+i32->i32 1x1x1"},
        {"f32*f32 1x1x1 beta=2 c=separate layout_d=t", "f32*f32+f32->f32 1x1x1 layout_d=t beta=2 c=separate"},
        {"f32*f32 1x1x1 batch=2 stride_b=0", "f32*f32+f32->f32 1x1x1 batch=2 stride_b=0"},
        {"f32*f32 1x1x1 c=d", "f32*f32+f32->f32 1x1x1 c=d"},
        {"1x1x1 layout_c=t ldc=3", "f32*f32+f32->f32 1x1x1 layout_c=t ldc=3"},
        {"1x1x1 layout_c=t layout_d=t", "f32*f32+f32->f32 1x1x1 layout_d=t layout_c=t"},
        {"1x1x1 c=d layout_c=t layout_d=t", "f32*f32+f32->f32 1x1x1 layout_d=t layout_c=t c=d"},
        {"1x1x1 alpha=inf beta=-inf clamp=-inf:1e-60", "f32*f32+f32->f32 1x1x1 alpha=inf beta=-inf clamp=-inf:0"},
        {"4x5x6 upto=bkm", "f32*f32+f32->f32 4x5x6 upto=mkb"},
        {"4x5x6 batch=2 upto=n layout=nt", "f32*f32+f32->f32 4x5x6 batch=2 upto=n layout=nt"},
        {"f16*f16 1x1x1 bias=col bias_type=f32 leaky=0.01 scale=all scale_type=f16",
         "f16*f16+f32->f16 1x1x1 bias=col leaky=0.01 scale=all bias_type=f32"},
        {"f32*f32 1x1x1 c=separate c_type=bf16 residual residual_type=f16",
         "f32*f32+f32->f32 1x1x1 c=separate residual c_type=bf16 residual_type=f16"},
        {"f16*f16 1x1x1 layout=nt act=drelu residual_type=bf16",
         "f16*f16+f32->f16 1x1x1 layout=nt act=drelu residual_type=bf16"},
        {"i8*i8->i8 1x1x1 bias=row bias_type=i32 scale=col scale_type=f32",
         "i8*i8+i32->i8 1x1x1 bias=row scale=col bias_type=i32"},
        {"4x5x6 batch=3 groups=selected", "f32*f32+f32->f32 4x5x6 batch=3 groups=selected"},
        {"4x5x6 batch=4 upto=m groups=indexed per_row=2",
         "f32*f32+f32->f32 4x5x6 batch=4 upto=m groups=indexed per_row=2"},
        {"4x5x6 outer=3 outer_stride_b=0 outer_stride_d=40",
         "f32*f32+f32->f32 4x5x6 outer=3 outer_stride_b=0 outer_stride_d=40"},
        {"4x5x6 upto=sm groups=addresses", "f32*f32+f32->f32 4x5x6 upto=ms groups=addresses"},
        {"e4m3*e5m2 1x1x1 clamp=col clamp=0:6", "e4m3*e5m2+f32->f32 1x1x1 clamp=col clamp=0:6"},
        {"u4_g128_f32*f16 1x1x1 clamp=row scalars=largest", "u4_g128_f32*f16+f32->f32 1x1x1 clamp=row scalars=largest"},
        {"u8*i8 1x1x1", "u8*i8+i32->i32 1x1x1"},
        {"1x1x1 scalars=monitor,alpha clamp=0:6", "f32*f32+f32->f32 1x1x1 clamp=0:6 scalars=alpha,monitor"},
        {"1x1x1 alpha=nan", "f32*f32+f32->f32 1x1x1 alpha=nan"},
        {"f32*f32 1x1x1 beta=1 c=none", "f32*f32+f32->f32 1x1x1 beta=1 c=none"},
        {"1x1x1 clamp=-1:0.5 scale=all residual bias=row",
         "f32*f32+f32->f32 1x1x1 clamp=-1:0.5 scale=all residual bias=row"},
    };
    for (const auto& row : rows) {
        const Result<ProblemText> read = parse_problem(row.read);
        CAPTURE(row.read);
        REQUIRE(read);
        CHECK(to_text(read->problem, read->alpha, read->beta) == row.written);
    }
}

TEST_CASE("a line says what it means") {
    const Result<ProblemText> read = parse_problem(
        "bf16*f16+f32->f32 3x4x5 layout=tn layout_d=t c=separate stride_a=0 stride_c=9 alpha=-2 beta=0.5");
    REQUIRE(read);
    const Problem& p = read->problem;
    CHECK(p.a.type == bf16);
    CHECK(p.b.type == f16);
    CHECK(p.accumulate == f32);
    CHECK(p.d.type == f32);
    CHECK(p.a.layout == columnMajor);
    CHECK(p.b.layout == rowMajor);
    CHECK(p.d.layout == columnMajor);
    CHECK(p.c.layout == columnMajor);  // follows D
    CHECK(p.a.batchStride == broadcast);
    CHECK(p.c.batchStride == 9);
    CHECK(p.cSource == VKGEMM_C_SEPARATE);
    CHECK(parse_problem("1x1x1 beta=1")->problem.cSource == VKGEMM_C_IS_D);
    CHECK(parse_problem("1x1x1")->problem.cSource == VKGEMM_C_NONE);
}

TEST_CASE("each parse error names its character and what would fit") {
    const struct {
        std::string line;
        int character;
        std::vector<std::string> words;
    } rows[] = {
        {"", 1, {"size", "64x128x256"}},
        {"f32*f32", 8, {"size"}},
        {"f23*f32 1x1x1", 1, {"'f23'", "did you mean"}},
        {"f32*q 1x1x1", 5, {"'q'"}},
        {"f32*f32+f33 1x1x1", 9, {"'f33'", "f32"}},
        {"f32*f32+f32->i33 1x1x1", 14, {"'i33'", "i32"}},
        {"f32*f32-> 1x1x1", 10, {"''"}},
        {"f32 1x1x1", 1, {"'f32'", "f32*f32"}},
        {"12", 3, {"ends after M"}},
        {"1x2", 4, {"ends after N"}},
        {"1x2x", 4, {"ends after N"}},
        {"1xx2", 3, {"N", "''"}},
        {"1x2x3x4", 5, {"K", "'3x4'"}},
        {"-1x2x3", 1, {"M", "'-1'"}},
        {"1x2x99999999999999999999", 5, {"K"}},
        {"1x2x3 batch=0", 13, {"one matrix or more", "'0'"}},
        {"1x2x3 btach=4", 7, {"'btach='", "did you mean", "'batch='"}},
        {"1x2x3 gelu", 7, {"'gelu'", "did you mean", "'act=gelu'"}},
        {"1x2x3 batch=2 nt", 15, {"'nt'", "did you mean", "'layout=nt'"}},
        {"1x2x3 batch=", 13, {"whole number"}},
        {"1x2x3 batch=four", 13, {"whole number", "'four'"}},
        {"1x2x3 batch=1.5", 13, {"'1.5'"}},
        {"1x2x3 layout=n", 14, {"nn, nt, tn or tt"}},
        {"1x2x3 layout=nx", 15, {"'x'", "row-major"}},
        {"1x2x3 layout_d=nn", 16, {"n or t"}},
        {"1x2x3 lda=-4", 11, {"'-4'"}},
        {"1x2x3 lde=4", 7, {"'lde='"}},
        {"1x2x3 stride_a=x", 16, {"'x'"}},
        {"1x2x3 alpha=none", 13, {"number", "'none'"}},
        {"1x2x3 alpha=1e999", 13, {"number", "'1e999'"}},
        {"1x2x3 beta=two", 12, {"'two'"}},
        {"1x2x3 c=e", 9, {"'e'"}},
        {"1x2x3 bias=column", 12, {"'column'", "col"}},
        {"1x2x3 act=tanh", 11, {"'tanh'", "gelu"}},
        {"1x2x3 clamp=1", 13, {"LOW:HIGH"}},
        {"1x2x3 clamp=a:1", 13, {"'a'"}},
        {"1x2x3 clamp=0:b", 15, {"'b'"}},
        {"1x2x3 clamp=1:1e39", 15, {"'1e39'", "range of f32"}},
        {"1x2x3 residual=1", 7, {"'residual='"}},
        {"1x2x3 act=relu act=silu residual bias=row scale=all", 49, {"at most 4"}},
        {"1x2x3 4x5x6", 7, {"'4x5x6'"}},
        {"1x2x3 batch=2 batch=3", 15, {"'batch=' comes twice"}},
        {"1x2x3 layout=nn beta=1 layout=tt", 24, {"'layout=' comes twice"}},
        {"1x2x3 ldc=4 lda=4 ldc=4", 19, {"'ldc=' comes twice"}},
        {"1x2x3 accuracy=f32_split c=d accuracy=f32_split", 30, {"'accuracy=' comes twice"}},
        {"1x2x3 upto=mxk", 13, {"'x' is not a size", "batch"}},
        {"1x2x3 upto=mm", 13, {"'m' comes twice"}},
        {"1x2x3 upto=", 12, {"a size is wanted"}},
        {"1x2x3 upto=m groups=indexed per_row=4294967296", 37, {"1 to 4294967295", "not 4294967296"}},
        {"1x2x3 scalars=alpha,alpha", 21, {"'alpha' comes twice"}},
    };
    for (const auto& row : rows) {
        const Result<ProblemText> read = parse_problem(row.line);
        CAPTURE(row.line);
        REQUIRE(!read);
        CHECK(read.status().code == VKGEMM_ERROR_PARSE);
        const std::string said = why(row.line), begins = "character " + std::to_string(row.character) + ":";
        CHECK_MESSAGE(said.substr(0, begins.size()) == begins, said);
        for (const std::string& word : row.words)
            CHECK_MESSAGE(said.find(word) != std::string::npos, "'", word, "' is not in: ", said);
    }
}

TEST_CASE("no line crashes the parser") {
    const std::string seed_line =
        "f16*f16+f32->f16 64x128x256 batch=4 layout=nt ldb=160 alpha=2 beta=1 c=separate bias=col clamp=-1:1";
    const char alphabet[] = "0123456789fxbi*+->= _:.acdnt\t\xff";
    int accepted = 0;
    for (uint64_t seed = 1; seed <= 20000; ++seed) {
        Random random(seed);
        std::string line = seed_line.substr(0, random.below(seed_line.size() + 1));
        for (uint64_t edits = 1 + random.below(3); edits && !line.empty(); --edits)
            line[random.below(line.size())] = alphabet[random.below(sizeof alphabet)];
        if (const Result<ProblemText> read = parse_problem(line)) {
            ++accepted;
            const std::string written = to_text(read->problem, read->alpha, read->beta);
            const Result<ProblemText> again = parse_problem(written);
            REQUIRE_MESSAGE(bool(again), "seed ", seed, ": ", line, " became ", written);
        } else {
            REQUIRE_MESSAGE(has_words(read.status().text, "character "), "seed ", seed);
        }
    }
    CHECK(accepted > 100);
    CHECK(accepted < 15000);
}

TEST_CASE("the lines of tests/problems are all readable, and written back the same") {
    int lines = 0;
    for (const std::string& line : problem_lines()) {
        CAPTURE(line);
        const Result<ProblemText> read = parse_problem(line);
        REQUIRE_MESSAGE(bool(read), why(line));
        const bool sound = bool(complete(read->problem));
        CHECK(sound);
        ++lines;
    }
    CHECK(lines > 20);
}

TEST_CASE("devices survive being written and read") {
    for (const std::string& name : device_files()) {
        CAPTURE(name);
        const Result<DeviceCaps> caps = parse_device_caps(file_text(name));
        REQUIRE_MESSAGE(bool(caps), caps.status().text);
        const std::string text = to_text(*caps);
        const Result<DeviceCaps> again = parse_device_caps(text);
        REQUIRE(again);
        CHECK(to_text(*again) == text);
        CHECK(caps->name != "");
        CHECK(caps->max_invocations >= 128);
    }
}

TEST_CASE("device text is read as written") {
    const Result<DeviceCaps> caps = parse_device_caps(
        "# a comment\r\n\n  shared_bytes = 49152  # 48 KiB\nkind = discrete\nfeatures = float64 coopmat\n"
        "max_storage_range=4294967296\nmatrix_shape = f16 bf16 f32 i32 16x8x32\nname = A = B\n");
    REQUIRE_MESSAGE(bool(caps), caps.status().text);
    CHECK(caps->shared_bytes == 49152);
    CHECK(caps->kind == DeviceKind::discrete);
    CHECK(caps->features == (need::float64 | need::coopmat));
    CHECK(caps->max_storage_range == uint64_t{1} << 32);
    CHECK(caps->name == "A = B");
    REQUIRE(caps->matrix_shapes.size() == 1);
    CHECK(caps->matrix_shapes[0] ==
          MatrixShape{.a = f16, .b = bf16, .accumulate = f32, .result = i32, .m = 16, .n = 8, .k = 32});
}

TEST_CASE("broken device text is refused with its line") {
    const std::string rows[] = {"shard_bytes = 1",
                                "shared_bytes = many",
                                "shared_bytes = 4294967296",
                                "shared_bytes",
                                "features = float65",
                                "kind = toaster",
                                "matrix_shape = f16 f16 f32 16x16x16",
                                "matrix_shape = f16 f16 f32 f32 16x16",
                                "max_groups_x = -1",
                                "= 4"};
    for (const std::string& row : rows) {
        CAPTURE(row);
        const Result<DeviceCaps> caps = parse_device_caps("name = x\n\n" + row + "\n");
        REQUIRE(!caps);
        CHECK(caps.status().code == VKGEMM_ERROR_PARSE);
        CHECK_MESSAGE(has_words(caps.status().text, "line 3", row), caps.status().text);
    }
}

TEST_CASE("features have names, and only those") {
    CHECK(feature_names(need::buffer_address) == "buffer_address");
    CHECK(feature_names(need::float64 | need::push_descriptor) == "float64 push_descriptor");
    CHECK(feature_names(0) == "");
}
