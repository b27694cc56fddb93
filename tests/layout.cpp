// SPDX-License-Identifier: MIT
// Rules that the compiler does not check, read off the sources: what the library may not do, how long a file, a
// function and a line may be, which names are not used any more.
#include <doctest/doctest.h>

#include <algorithm>
#include <regex>
#include <string>
#include <vector>

#include "style/sources.h"
#include "vkgemm/tables.h"

using namespace vkgemm::test;

namespace {

const std::vector<std::string> code = {".h", ".hpp", ".c", ".cpp", ".cu", ".cuh", ".def"},
                               shaders = {".comp", ".glsl", ".h", ".def"},
                               folders = {"src",    "include", "blas",     "integrations",
                                          "native", "tools",   "examples", "tests"};

/// Characters, not bytes: continuation bytes of UTF-8 do not count.
size_t columns(const std::string& line) {
    size_t n = 0;
    for (const char c : line) n += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
    return n;
}

bool has_word(const std::string& folder, const std::string& name, const std::string& word) {
    const std::regex whole("\\b" + word + "\\b");
    for (const SourceFile& f : files_under({folder}, {name}))
        if (std::ranges::any_of(f.lines, [&](const std::string& l) { return std::regex_search(l, whole); }))
            return true;
    return false;
}

}  // namespace

TEST_CASE("layers: the library reads no clock and no file, and prints nothing") {
    // Who may include which layer is enforced by the include directories in CMakeLists.txt.
    const struct {
        std::string folder, headers;
    } rows[] = {
        {"src/plan", "fstream|filesystem|iostream|chrono|ctime|cstdlib|cstdio|thread|mutex|random"},
        {"src/vk", "fstream|filesystem|iostream|chrono"},
    };
    for (const auto& row : rows) {
        const std::regex forbidden("^ *# *include *<(" + row.headers + ")>"),
            acts(R"(\b(fopen|printf|fprintf|puts|abort|exit|std::cout|std::cerr)\s*[(<])");
        const auto files = files_under({row.folder}, code);
        CHECK_MESSAGE(files.size() > 10, row.folder);
        for (const SourceFile& f : files)
            for (size_t i = 0; i < f.lines.size(); ++i) {
                CHECK_MESSAGE(!std::regex_search(f.lines[i], forbidden), f.name, ":", i + 1, ": ", f.lines[i]);
                CHECK_MESSAGE(!std::regex_search(f.lines[i], acts), f.name, ":", i + 1, ": ", f.lines[i]);
            }
    }
}

TEST_CASE("layers: the environment is read on one line of the library") {
    std::string places;
    for (const SourceFile& f : files_under({"src/plan", "src/vk"}, code))
        for (size_t i = 0; i < f.lines.size(); ++i)
            if (f.lines[i].find("getenv") != std::string::npos) places += f.lines[i] + "\n";
    CHECK(places.find("VKGEMM_CONTEXT_IGNORE_ENVIRONMENT ? nullptr : std::getenv(name)") != std::string::npos);
    CHECK_MESSAGE(std::count(places.begin(), places.end(), '\n') == 1, places);
}

// Only devices of one vendor run native kernels, and only some have f64, so that most machines would not notice.
TEST_CASE("layers: every step of the epilogue is wherever steps are computed") {
    const struct {
        std::string kind, operand, shape;
    } steps[] = {
#define VKGEMM_ROW(kind, number, text, accumulators, operand, shape, meaning) {#kind, #operand, #shape},
        VKGEMM_STEP_ROWS(VKGEMM_ROW)
#undef VKGEMM_ROW
    };
    for (const auto& step : steps) {
        INFO(step.kind);
        if (step.shape == "B") continue;  // kernels have the gates in their place
        CHECK(has_word("shaders/common", "epilogue.glsl", step.kind));
        if (step.operand == "VKGEMM_SLOT_COUNT") CHECK(has_word("shaders/common", "activated_f64.glsl", step.kind));
        if (step.shape == "M_PAIRS" || step.shape == "N_PAIRS") continue;  // native kernels refuse all of these
        const bool is_native = has_word("native", "finish.cuh", step.kind);
        CHECK((is_native || has_word("native", "family.h", step.kind)));
        if (is_native) CHECK(has_word("tests/native", "check.cu", step.kind));
    }
}

TEST_CASE("limits: 500 lines of C++, 200 of a shader, 120 columns") {
    const auto sources = files_under(folders, code);
    const auto kernels = files_under({"shaders"}, shaders);
    CHECK(sources.size() > 60);
    CHECK(kernels.size() >= 8);
    for (const SourceFile& f : sources) CHECK_MESSAGE(f.lines.size() <= 500, f.name, " has ", f.lines.size(), " lines");
    for (const SourceFile& f : kernels) CHECK_MESSAGE(f.lines.size() <= 200, f.name, " has ", f.lines.size(), " lines");
    for (const auto* list : {&sources, &kernels})
        for (const SourceFile& f : *list) {
            if (f.name.ends_with(".def")) continue;  // tables
            for (size_t i = 0; i < f.lines.size(); ++i)
                CHECK_MESSAGE(columns(f.lines[i]) <= 120, f.name, ":", i + 1, " has ", columns(f.lines[i]), " columns");
        }
}

TEST_CASE("limits: 100 columns in documents, tables, code and links excepted") {
    const auto documents = files_under({".", "docs", ".github"}, {".md"});
    CHECK(documents.size() >= 8);
    for (const SourceFile& f : documents) {
        bool in_code = false;
        for (size_t i = 0; i < f.lines.size(); ++i) {
            const std::string& line = f.lines[i];
            if (line.find("```") == line.find_first_not_of(' ') && !line.empty()) in_code = !in_code;
            const bool is_table = line.starts_with("|"), has_one_word = line.find(' ', 4) == std::string::npos;
            if (in_code || is_table || has_one_word) continue;
            CHECK_MESSAGE(columns(line) <= 100, f.name, ":", i + 1, " has ", columns(line), " columns");
        }
        CHECK_MESSAGE(!in_code, f.name, " has a code block without an end");
    }
}

// Names that were replaced by the field's own.
TEST_CASE("vocabulary: names that were replaced do not come back") {
    const std::regex replaced(
        R"(weave|woven|WEAVE|WOVEN|[Vv]erdict|[Oo]blong|[Pp]assed_over|\bbest_way\b|\blay_out\b|\bgive_text\b|)"
        R"(\b(panel|thirds|halves)_(f32|f16|bf16|f64|i32|i8|u8|["%]|\d)|\b[Pp]eers?\b|\bThought\b|\b[Pp]lanted\b|)"
        R"(\b[Mm]odest|\b[Ll]esser\b|\b[Cc]eilings?\b|\b(words|boundary)\.h\b)");
    size_t lines = 0;
    for (const SourceFile& f : files_under(
             {"src", "include", "blas", "integrations", "native", "tests", "tools", "examples", "shaders", "cmake"},
             {".h", ".hpp", ".c", ".cpp", ".cu", ".cuh", ".def", ".comp", ".glsl", ".cmake", ".txt", ".in"})) {
        if (f.name == "tests/layout.cpp") continue;
        if (f.name.starts_with("tests/fuzz/corpus/")) continue;  // any text may be tried
        lines += f.lines.size();
        for (size_t i = 0; i < f.lines.size(); ++i) {
            CHECK_MESSAGE(!std::regex_search(f.lines[i], replaced), f.name, ":", i + 1,
                          " uses a name that was replaced: ", f.lines[i]);
        }
    }
    CHECK(lines > 15000);
}

TEST_CASE("every source names its licence") {
    const auto sources = files_under(
        {"src", "include", "blas", "integrations", "native", "tests", "tools", "examples", "shaders", "cmake"},
        {".h", ".hpp", ".c", ".cpp", ".cu", ".cuh", ".def", ".comp", ".glsl", ".cmake", "CMakeLists.txt"});
    CHECK(sources.size() > 150);
    for (const SourceFile& f : sources) {
        bool named = false;
        for (size_t i = 0; i < f.lines.size() && i < 4; ++i)
            named |= f.lines[i].find("SPDX-License-Identifier: MIT") != std::string::npos;
        CHECK_MESSAGE(named, f.name);
    }
}
