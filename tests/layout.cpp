// SPDX-License-Identifier: MIT
// Rules that the compiler does not check, read off the sources: what the library may not do, how long a file, a
// function and a line may be, which names are not used any more.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

struct File {
    std::string name;  // from the top of the tree, with '/'
    std::vector<std::string> lines;
};

bool has_ending(const fs::path& path, const std::vector<std::string>& endings) {
    for (const std::string& e : endings)
        if (path.extension() == e || path.filename() == e) return true;
    return false;
}

std::vector<File> files_under(const std::vector<std::string>& folders, const std::vector<std::string>& endings) {
    std::vector<File> out;
    const fs::path root = VKGEMM_SOURCE_DIR;
    for (const std::string& folder : folders) {
        REQUIRE_MESSAGE(fs::exists(root / folder), folder);
        fs::recursive_directory_iterator entries(root / folder);
        for (const auto& entry : entries) {
            if (folder == "." && entry.is_directory()) entries.disable_recursion_pending();  // builds and the SDK
            if (!entry.is_regular_file() || !has_ending(entry.path(), endings)) continue;
            std::ifstream in(entry.path(), std::ios::binary);
            File f{entry.path().lexically_relative(root).generic_string(), {}};
            for (std::string line; std::getline(in, line);) f.lines.push_back(line);
            out.push_back(std::move(f));
        }
    }
    return out;
}

const std::vector<std::string> code = {".h", ".hpp", ".c", ".cpp", ".def"}, shaders = {".comp", ".glsl", ".h", ".def"};

/// Characters, not bytes: continuation bytes of UTF-8 do not count.
size_t columns(const std::string& line) {
    size_t n = 0;
    for (const char c : line) n += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
    return n;
}

std::string without_comment(const std::string& line) {
    std::string out = line.substr(0, line.find("//"));
    while (out.ends_with(' ')) out.pop_back();
    return out;
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
        for (const File& f : files)
            for (size_t i = 0; i < f.lines.size(); ++i) {
                CHECK_MESSAGE(!std::regex_search(f.lines[i], forbidden), f.name, ":", i + 1, ": ", f.lines[i]);
                CHECK_MESSAGE(!std::regex_search(f.lines[i], acts), f.name, ":", i + 1, ": ", f.lines[i]);
            }
    }
}

TEST_CASE("layers: the environment is read on one line of the library") {
    std::string places;
    for (const File& f : files_under({"src/plan", "src/vk"}, code))
        for (size_t i = 0; i < f.lines.size(); ++i)
            if (f.lines[i].find("getenv") != std::string::npos) places += f.lines[i] + "\n";
    CHECK(places.find("VKGEMM_CONTEXT_IGNORE_ENVIRONMENT ? nullptr : std::getenv(name)") != std::string::npos);
    CHECK_MESSAGE(std::count(places.begin(), places.end(), '\n') == 1, places);
}

TEST_CASE("limits: 500 lines of C++, 200 of a shader, 120 columns") {
    const auto sources = files_under({"src", "include", "blas", "integrations", "tests", "tools", "examples"}, code);
    const auto kernels = files_under({"shaders"}, shaders);
    CHECK(sources.size() > 60);
    CHECK(kernels.size() >= 8);
    for (const File& f : sources) CHECK_MESSAGE(f.lines.size() <= 500, f.name, " has ", f.lines.size(), " lines");
    for (const File& f : kernels) CHECK_MESSAGE(f.lines.size() <= 200, f.name, " has ", f.lines.size(), " lines");
    for (const auto* list : {&sources, &kernels})
        for (const File& f : *list) {
            if (f.name.ends_with(".def")) continue;  // tables
            for (size_t i = 0; i < f.lines.size(); ++i)
                CHECK_MESSAGE(columns(f.lines[i]) <= 120, f.name, ":", i + 1, " has ", columns(f.lines[i]), " columns");
        }
}

TEST_CASE("limits: 60 lines a function") {
    // A function begins at the first column, with a line that may leave its signature open, and ends with a brace alone
    // in the first column. A declaration ends with ';', a function of one line and an array with another brace.
    const std::regex not_a_function(
        R"(^(namespace|class|struct|union|enum|extern|typedef|template|TEST_CASE)\b|^[#/}])");
    size_t functions = 0;
    for (const File& f :
         files_under({"src", "blas", "integrations", "tests", "tools", "examples"}, {".h", ".hpp", ".c", ".cpp"})) {
        std::string name;
        size_t begin = 0;
        bool in_body = false;
        for (size_t i = 0; i < f.lines.size(); ++i) {
            const std::string line = without_comment(f.lines[i]);
            if (!in_body && !line.empty() && line[0] != ' ' && !std::regex_search(line, not_a_function))
                name = line, begin = i;
            if (name.empty()) continue;
            if (in_body && line == "}") {
                ++functions;
                CHECK_MESSAGE(i - begin + 1 <= 60, f.name, ":", begin + 1, " has ", i - begin + 1, " lines: ", name);
            }
            in_body = line.ends_with("{") || (in_body && !line.starts_with("}"));
            if (!in_body && (line.ends_with(";") || line.ends_with("}"))) name.clear();
        }
    }
    CHECK(functions > 500);  // the pattern still finds them
}

TEST_CASE("limits: 100 columns in documents, tables, code and links excepted") {
    const auto documents = files_under({".", "docs", ".github"}, {".md"});
    CHECK(documents.size() >= 8);
    for (const File& f : documents) {
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
    for (const File& f :
         files_under({"src", "include", "blas", "integrations", "tests", "tools", "examples", "shaders", "cmake"},
                     {".h", ".hpp", ".c", ".cpp", ".def", ".comp", ".glsl", ".cmake", ".txt", ".in"})) {
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
    const auto sources =
        files_under({"src", "include", "blas", "integrations", "tests", "tools", "examples", "shaders", "cmake"},
                    {".h", ".hpp", ".c", ".cpp", ".def", ".comp", ".glsl", ".cmake", "CMakeLists.txt"});
    CHECK(sources.size() > 150);
    for (const File& f : sources) {
        bool named = false;
        for (size_t i = 0; i < f.lines.size() && i < 4; ++i)
            named |= f.lines[i].find("SPDX-License-Identifier: MIT") != std::string::npos;
        CHECK_MESSAGE(named, f.name);
    }
}
