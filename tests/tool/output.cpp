// SPDX-License-Identifier: MIT
// Files are written whole, or stay as they were.
#include "tools/vkgemm/output.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "support/words.h"

using vkgemm::tool::OutputFile;
namespace fs = std::filesystem;

namespace {

/// A folder of this test's own, gone with it.
struct Folder {
    fs::path path = fs::temp_directory_path() / "vkgemm_test_output";
    Folder() {
        fs::remove_all(path);
        fs::create_directory(path);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder() { fs::remove_all(path); }
    std::string file(const char* name) const { return (path / name).string(); }
    size_t count() const { return static_cast<size_t>(std::distance(fs::directory_iterator(path), {})); }
};

std::string content(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("a result replaces the old file at the end, and only then") {
    const Folder folder;
    const std::string path = folder.file("result.json");
    std::ofstream(path) << "old";
    {
        auto file = OutputFile::open(path);
        REQUIRE(file);
        CHECK(content(path) == "old");
        CHECK(file->commit("new\n").code == VKGEMM_SUCCESS);
        CHECK(content(path) == "new\n");
    }
    {
        auto interrupted = OutputFile::open(path);
        REQUIRE(interrupted);
    }
    CHECK(content(path) == "new\n");
    CHECK(folder.count() == 1);  // nothing half-made stays
}

TEST_CASE("what cannot be written is told before the work, and by name") {
    const Folder folder;
    const std::string path = folder.file("missing/result.json");
    const auto file = OutputFile::open(path);
    REQUIRE(!file);
    CHECK(vkgemm::test::has_words(file.status().text, "cannot write", path));
    auto none = OutputFile::open("");
    REQUIRE(none);
    CHECK(!none->wanted());
    CHECK(none->commit("text").code == VKGEMM_SUCCESS);
}
