// SPDX-License-Identifier: MIT
// What is to be measured, from words and files.
#include "tools/vkgemm/measure/cases.h"

#include <doctest/doctest.h>

#include <set>

#include "plan/problem/problem_text.h"
#include "support/files.h"
#include "support/reference.h"
#include "support/string_util.h"

using namespace vkgemm::tool;
using vkgemm::Result;
using vkgemm::test::has_words;
namespace plan = vkgemm::plan;

namespace {

Case one(const std::string& line) {
    Result<Case> c = parse_case(line);
    REQUIRE_MESSAGE(bool(c), line, ": ", c.status().text);
    return *c;
}

}  // namespace

TEST_CASE("suites: one problem a line, with its target") {
    const auto cases = parse_suite("# all of it\n\n 64x128x256\t\r\nf16*f16 8x8x8 beta=1\ttarget=1.5 # aim\n", "mine");
    REQUIRE_MESSAGE(bool(cases), cases.status().text);
    REQUIRE(cases->size() == 2);
    CHECK((*cases)[0].text == "f32*f32+f32->f32 64x128x256");
    CHECK((*cases)[0].target == 0);
    CHECK((*cases)[0].from_suite);
    CHECK((*cases)[1].target == 1.5e12);
    CHECK((*cases)[1].beta == 1);
    const auto cut = parse_suite(std::string_view("8x8x8\n9x9x9\0 lda=1\n", 19), "mine");
    REQUIRE(!cut);
    CHECK(has_words(cut.status().text, "mine:2: ", "character 6"));
    const std::pair<const char*, std::vector<std::string>> bad[] = {
        {"8x8x8\n\n8x8\n", {"mine:3: ", "MxNxK"}},
        {"8x8x8 target=fast", {"mine:1: ", "'fast'", "target=50"}},
        {"8x8x8 target=-1", {"mine:1: ", "'-1'"}},
        {"8x8x8 target=0", {"'0'"}},
        {"8x8x8 target=inf", {"'inf'"}},
        {"8x8x8 target=1e300", {"'1e300'"}},  // finite, but not in operations
        {"8x8x8 target=5 beta=1", {"'5 beta=1'", "comes last"}},
        {"8x8x8 lda=3", {"mine:1: ", "lda"}},
        {"8x8x8\n0x8x8", {"mine:2: ", "m or n is 0"}},
        {"# nothing\n", {"mine", "no problem"}},
        {"", {"mine", "no problem"}},
    };
    for (const auto& [text, words] : bad) {
        const auto refused = parse_suite(text, "mine");
        REQUIRE(!refused);
        for (const std::string& word : words)
            CHECK_MESSAGE(has_words(refused.status().text, word), refused.status().text);
    }
}

TEST_CASE("shapes, with a type and a layout for all of them") {
    const auto cases = parse_shapes("64x128x256, 8x9x10x4", "i32", "nt");
    REQUIRE(cases);
    REQUIRE(cases->size() == 2);
    CHECK((*cases)[0].text == "i32*i32+i32->i32 64x128x256 layout=nt");
    CHECK((*cases)[1].text == "i32*i32+i32->i32 8x9x10 batch=4 layout=nt");
    CHECK((*parse_shapes("1x2x3", "f16*f16+f32->f32", ""))[0].text == "f16*f16+f32->f32 1x2x3");
    CHECK((*parse_shapes("1x2x3", "", ""))[0].text == "f32*f32+f32->f32 1x2x3");
    for (const char* const bad : {"", "64", "64x64", "1x2x3x4x5", "1x2x", "axbxc", "1x2x3,", "-1x2x3", "1.5x2x3"}) {
        const auto refused = parse_shapes(bad, "", "");
        REQUIRE_MESSAGE(!refused, std::string(bad));
        CHECK(has_words(refused.status().text, "shape"));
    }
    CHECK(has_words(parse_shapes("1x2x3", "f23", "").status().text, "f23", "f32"));
    CHECK(has_words(parse_shapes("1x2x3", "", "nx").status().text, "x"));
}

TEST_CASE("suites that are built in are the files of tests/problems") {
    REQUIRE(suites().size() >= 5);
    for (const Suite& s : suites()) {
        const auto cases = load_suite(std::string(s.name));
        CHECK_MESSAGE(bool(cases), std::string(s.name), ": ", cases.status().text);
    }
    CHECK((*load_suite("h200"))[0].target > 0);
    CHECK(load_suite("h200")->size() == vkgemm::test::lines_of("problems/h200.txt").size());
    const auto file = load_suite(std::string(VKGEMM_TESTS_DIR) + "/problems/corners.txt");
    REQUIRE_MESSAGE(bool(file), file.status().text);
    CHECK(file->size() == load_suite("corners")->size());
    CHECK(has_words(load_suite("clasic").status().text, "'clasic'", "h200", "'classic'"));
    CHECK(has_words(load_suite("/no/such/file").status().text, "/no/such/file", "classic"));
}

TEST_CASE("matrices lie where the library says that they lie") {
    for (const std::string& line : vkgemm::test::problem_lines()) {
        const Case c = one(line);
        const Resolved r = resolve(c.problem);
        const plan::Problem p = *plan::complete(plan::parse_problem(line)->problem);
        CAPTURE(line);
        CHECK(r.batch == p.batch);
        CHECK(std::string_view(type_info(r.accumulate).name) == plan::info(p.accumulate).name);
        const MatrixInfo* const ours[] = {&r.a, &r.b, &r.c, &r.d};
        for (size_t i = 0; i < 4; ++i) {
            const plan::Operand x = plan::operands(p)[i];
            if (x.slot == VKGEMM_SLOT_C && p.cSource == VKGEMM_C_NONE) {
                CHECK(ours[i]->span == 0);
                continue;
            }
            CHECK(std::string_view(type_info(ours[i]->type).name) == plan::info(x.matrix->type).name);
            const bool for_all = p.grouping == VKGEMM_GROUPING_INDEXED && i != 1;  // all but B
            CHECK(ours[i]->span == *plan::span_elements(*x.matrix, x.rows, x.cols, for_all ? 1 : p.batch));
            if (ours[i]->span == 0) continue;
            const bool by_rows = x.matrix->layout == plan::rowMajor;
            CHECK(ours[i]->row_step == (by_rows ? x.matrix->ld : 1));
            CHECK(ours[i]->col_step == (by_rows ? 1 : x.matrix->ld));
            CHECK(ours[i]->batch_step == (for_all ? 0 : x.matrix->batchStride));
        }
    }
    const Resolved r = resolve(one("5x6x7 batch=3 layout=nt lda=10 stride_b=0 ldd=9 stride_d=100").problem);
    CHECK(r.a.position(2, 3, 4) == 2 * 50 + 3 * 10 + 4);
    CHECK(r.b.position(2, 3, 4) == 4 * 7 + 3);
    CHECK(r.d.position(1, 2, 3) == 100 + 18 + 3);
}

TEST_CASE("matrices of two levels lie where the library says, and are counted once where products share them") {
    for (const char* line : {"9x13x8 batch=6 outer=4 ratio_b=2 outer_ratio_a=2 c=separate beta=2",
                             "9x13x8 batch=3 outer=4 ldd=156 stride_d=13 outer_stride_d=39 stride_a=0",
                             "9x13x8 batch=4 ratio_a=4 outer=3 outer_stride_a=0 outer_stride_b=0 layout=tt"}) {
        CAPTURE(std::string(line));
        const Resolved r = resolve(one(line).problem);
        const plan::Problem p = *plan::complete(plan::parse_problem(line)->problem);
        CHECK(r.batch == p.batch * p.outerBatch);
        const MatrixInfo* const ours[] = {&r.a, &r.b, &r.c, &r.d};
        for (size_t i = 0; i < 4; ++i) {
            if (ours[i]->span == 0) continue;
            CHECK(ours[i]->span == *plan::span_elements(plan::operands(p)[i]));
            std::set<uint64_t> begins;
            for (uint64_t z = 0; z < r.batch; ++z) {
                CHECK(ours[i]->position(z, 1, 2) == vkgemm::test::position(p, i, z, 1, 2));
                CHECK(ours[i]->matrix_of(z) < ours[i]->matrices());
                begins.insert(ours[i]->position(z, 0, 0));
            }
            CHECK(begins.size() == ours[i]->matrices());
        }
    }
    CHECK(least_bytes(one("5x6x7 batch=4 ratio_b=2 outer=3")) == 4 * (12 * 35 + 6 * 42 + 12 * 30));
    CHECK(flops(one("5x6x7 batch=4 ratio_b=2 outer=3")) == 2 * 5 * 6 * 7 * 12);
}

TEST_CASE("operations and bytes are counted once") {
    CHECK(flops(one("5x6x7 batch=3")) == 2 * 5 * 6 * 7 * 3);
    CHECK(least_bytes(one("5x6x7")) == 4 * (35 + 42 + 30));
    CHECK(least_bytes(one("5x6x7 beta=1")) == 4 * (35 + 42 + 30 + 30));
    CHECK(least_bytes(one("5x6x7 c=separate beta=0")) == 4 * (35 + 42 + 30));
    CHECK(least_bytes(one("f16*f16 5x6x7 batch=3 stride_b=0 lda=50")) == 2 * (3 * 35 + 42 + 3 * 30));
    CHECK(least_bytes(one("i8*i8 5x6x7")) == 35 + 42 + 4 * 30);
    CHECK(least_bytes(one("0x6x7")) == 4 * 42);
    CHECK((flops(one("5x6x7 alpha=0 beta=1")) == 0 && least_bytes(one("5x6x7 alpha=0 beta=1")) == 4 * (30 + 30)));
}

TEST_CASE("a refusal points at the character") {
    const auto told = [](const std::string& line) { return parse_case(line).status().text; };
    CHECK(told("f16*f16 64x64x64 bais=col") ==
          "character 18: 'bais=' is not known; did you mean 'bias='?\n    f16*f16 64x64x64 bais=col\n" +
              std::string(4 + 17, ' ') + "^");
    CHECK(told("8x8x8\tlayout=nx").ends_with("\n    8x8x8 layout=nx\n" + std::string(4 + 14, ' ') + "^"));
    CHECK(told("").ends_with("\n    \n    ^"));
    const std::string far = told("8x8x8 " + std::string(200, ' ') + "bais=col");
    CHECK(far.ends_with("\n    " + std::string(60, ' ') + "bais=col\n" + std::string(64, ' ') + "^"));
    CHECK(told("8x8x8 lda=1").find('\n') == std::string::npos);  // it contradicts itself: no one character is wrong
}

TEST_CASE("factors that no run of the problem can have, and products without an element, are refused") {
    CHECK(has_words(parse_case("i32*i32 8x8x8 alpha=0.5").status().text, "alpha", "0.5"));
    CHECK(has_words(parse_case("8x8x8 beta=2e39").status().text, "beta", "2e+39", "f32"));
    CHECK(has_words(parse_case("8x8x8 alpha=-inf").status().text, "alpha", "-inf"));
    CHECK(has_words(parse_case("8x8x8 beta=1 c=none").status().text, "c=separate"));
    CHECK(parse_work("8x8x0"));  // D is beta C
    for (const char* line : {"0x8x8", "8x0x8"}) {
        CHECK(parse_case(line));
        CHECK(has_words(parse_work(line).status().text, "m or n is 0"));
        CHECK(has_words(parse_shapes(line, "", "").status().text, line, "m or n is 0"));
        CHECK(has_words(load_cases({line}, "").status().text, line, "m or n is 0"));
    }
}

TEST_CASE("a problem that lost its quotes is told so") {
    const auto told = [](const std::vector<std::string>& words) { return load_cases(words, "").status().text; };
    CHECK(told({"64x64x64", "layout=nt"}).ends_with("in quotes: '64x64x64 layout=nt'"));
    CHECK(told({"64x64x64", "64x64"}).find("quotes") == std::string::npos);
    CHECK(told({"64x64x64 layout=nx"}).find("quotes") == std::string::npos);
}
