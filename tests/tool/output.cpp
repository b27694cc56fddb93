// SPDX-License-Identifier: MIT
// Files are written whole, or stay as they were.
#include "tools/vkgemm/cli/output.h"

#include <doctest/doctest.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tools/vkgemm/cli/terminal.h"

#ifndef _WIN32
#    include <sys/resource.h>

#    include <csignal>
#endif

#include "support/string_util.h"

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

#ifndef _WIN32
/// From here on no file can grow.
struct FullDisk {
    rlimit before{};
    FullDisk() {
        std::signal(SIGXFSZ, SIG_IGN);
        getrlimit(RLIMIT_FSIZE, &before);
        const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
        setrlimit(RLIMIT_FSIZE, &none);
    }
    FullDisk(const FullDisk&) = delete;
    FullDisk& operator=(const FullDisk&) = delete;
    ~FullDisk() { setrlimit(RLIMIT_FSIZE, &before); }
};
#endif

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

TEST_CASE("what others have beside the file stays theirs, and who may read it") {
    const Folder folder;
    const std::string path = folder.file("result.json");
    std::ofstream(path) << "old";
    std::ofstream(path + ".partial") << "mine";
    fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
    {
        auto one = OutputFile::open(path), two = OutputFile::open(path);
        REQUIRE(one);
        REQUIRE(two);
        CHECK(one->commit("one").code == VKGEMM_SUCCESS);
        CHECK(content(path) == "one");
        CHECK(two->commit("two").code == VKGEMM_SUCCESS);
        CHECK(two->commit("two and more").code == VKGEMM_SUCCESS);  // as rows are added
    }
    CHECK(content(path) == "two and more");
    CHECK(content(path + ".partial") == "mine");
    CHECK(folder.count() == 2);
#ifndef _WIN32
    CHECK(fs::status(path).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
    if (!fs::is_character_file("/dev/zero")) return;
    const auto endless = vkgemm::tool::read_file("/dev/zero");
    REQUIRE(!endless);
    CHECK(vkgemm::test::has_words(endless.status().text, "/dev/zero", "1 GiB"));
#endif
}

TEST_CASE("a file is read without the mark that some editors begin it with") {
    const Folder folder;
    for (const char* text : {"\xef\xbb\xbf"
                             "8x8x8\n",
                             "8x8x8\n"}) {
        std::ofstream(folder.file("text"), std::ios::binary) << text;
        CHECK(*vkgemm::tool::read_file(folder.file("text")) == "8x8x8\n");
    }
}

TEST_CASE("what cannot be written is told before the work, and by name") {
    const Folder folder;
    const std::string path = folder.file("missing/result.json");
    const auto file = OutputFile::open(path);
    REQUIRE(!file);
    CHECK(has_words(file.status().text, path));
    auto none = OutputFile::open("");
    REQUIRE(none);
    CHECK(!none->wanted());
    CHECK(none->commit("text").code == VKGEMM_SUCCESS);
}

TEST_CASE("what is not a file is written to, never replaced; a folder is refused") {
    const Folder folder;
    const auto into = OutputFile::open(folder.path.string());
    REQUIRE(!into);
    CHECK(has_words(into.status().text, "irectory"));
    CHECK(!vkgemm::tool::read_file(folder.path.string()));
#ifndef _WIN32
    const std::string link = folder.file("link"), target = folder.file("target");
    std::ofstream(target) << "old";
    fs::create_symlink(target, link);
    auto through = OutputFile::open(link);
    REQUIRE(through);
    CHECK(through->commit("new").code == VKGEMM_SUCCESS);
    CHECK((fs::is_symlink(link) && content(target) == "new"));
    const std::string to_nothing = folder.file("to_nothing"), made = folder.file("made"),
                      circle = folder.file("circle");
    fs::create_symlink("made", to_nothing);
    auto onto_nothing = OutputFile::open(to_nothing);
    REQUIRE(onto_nothing);
    CHECK(onto_nothing->commit("made").code == VKGEMM_SUCCESS);
    CHECK((fs::is_symlink(to_nothing) && content(made) == "made"));
    fs::remove(made);
    CHECK(has_words(vkgemm::tool::own_places({{"--json", to_nothing}, {"--csv", made}}).text, "the same file"));
    fs::remove(to_nothing);
    fs::create_symlink("circle", circle);
    const std::string long_name = folder.file(std::string(300, 'x').c_str());
    CHECK(vkgemm::tool::own_places({{"--json", circle}, {"--csv", long_name}}));
    CHECK(has_words(OutputFile::open(circle).status().text, circle));
    CHECK(fs::is_symlink(circle));
    fs::remove(circle);
    const std::string old = folder.file("old");
    std::ofstream(old) << "old";
    {
        auto onto = OutputFile::open(old);
        REQUIRE(onto);
        const FullDisk full;
        CHECK(has_words(onto->commit("new").text, old));
        CHECK(content(old) == "old");
    }
    CHECK(folder.count() == 3);
    if (!fs::is_character_file("/dev/full")) return;
    const std::string device = folder.file("device");
    fs::create_symlink("/dev/full", device);  // were it renamed over, only the link would be lost
    auto full = OutputFile::open(device);
    REQUIRE(full);
    const auto status = full->commit("text");
    CHECK((!status && has_words(status.text, device)));
    CHECK((fs::is_symlink(device) && fs::is_character_file(device)));
#endif
}

#ifndef _WIN32
TEST_CASE("a signal leaves errno to the code that it interrupts") {
    std::FILE* const full = std::fopen("/dev/full", "w");
    if (!full) return;
    vkgemm::tool::set_streams(stdout, full);  // so that the announcement fails, and sets errno
    vkgemm::tool::watch_signals();
    errno = 77;
    std::raise(SIGINT);
    const int after = errno;
    const bool stops = vkgemm::tool::interrupted();
    vkgemm::tool::watch_signals();  // forgets the signal
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) std::signal(signal, SIG_DFL);
    vkgemm::tool::set_streams(stdout, stderr);
    std::fclose(full);
    CHECK(stops);
    CHECK(after == 77);
}
#endif
