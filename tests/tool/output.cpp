// SPDX-License-Identifier: MIT
// Files are written whole, or stay as they were.
#include "tools/vkgemm/output.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "support/words.h"

using vkgemm::test::has_words;
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
    CHECK(has_words(file.status().text, "cannot write", path));
    auto none = OutputFile::open("");
    REQUIRE(none);
    CHECK(!none->wanted());
    CHECK(none->commit("text").code == VKGEMM_SUCCESS);
}

TEST_CASE("what is no file is written to, never replaced; a folder is refused") {
    const Folder folder;
    const auto into = OutputFile::open(folder.path.string());
    REQUIRE(!into);
    CHECK(has_words(into.status().text, "cannot write", "irectory"));
    CHECK(!vkgemm::tool::read_file(folder.path.string()));
#ifndef _WIN32
    const std::string link = folder.file("link"), target = folder.file("target");
    std::ofstream(target) << "old";
    fs::create_symlink(target, link);
    auto through = OutputFile::open(link);
    REQUIRE(through);
    CHECK(through->commit("new").code == VKGEMM_SUCCESS);
    CHECK((fs::is_symlink(link) && content(target) == "new"));
    if (!fs::is_character_file("/dev/full")) return;
    const std::string old = folder.file("old");
    std::ofstream(old) << "old";
    fs::create_symlink("/dev/full", old + ".partial");  // so that the disk is full from here on
    auto onto = OutputFile::open(old);
    REQUIRE(onto);
    CHECK(has_words(onto->commit("new").text, "cannot write", old));
    CHECK(content(old) == "old");
    const std::string device = folder.file("device");
    fs::create_symlink("/dev/full", device);  // were it renamed over, only the link would be lost
    auto full = OutputFile::open(device);
    REQUIRE(full);
    const auto status = full->commit("text");
    CHECK((!status && has_words(status.text, "cannot write", device)));
    CHECK((fs::is_symlink(device) && fs::is_character_file(device)));
#endif
}
