// SPDX-License-Identifier: MIT
// Standard streams and files that do not take what is written to them.
#include <doctest/doctest.h>

#include <filesystem>

#include "cli/program.h"

using namespace vkgemm::test;

TEST_SUITE_BEGIN("streams");

TEST_CASE("code 2: standard output is full or closed; a file is still written") {
    const Folder folder("streams_full");
    for (const std::string words : {"--help", "devices --json -"}) {
        const Run r = run_shell("\"$@\" >/dev/full", words);
        CHECK(r.code == 2);
        expect(r.err, {"standard output"});
    }
    const Run closed = run_shell("\"$@\" >&-", "kernels --json closed.json");
    CHECK(closed.code == 2);
    expect(closed.err, {"standard output"});
    CHECK(Json::parse(read("closed.json")).contains("kernels"));  // not what was printed
}

TEST_CASE("a reader that leaves ends nothing: the files are written") {
    const Folder folder("streams_pipe");
    const Run r = run_shell("\"$@\" | head -n 1", "bench 8x8x8 16x16x16 --json piped.json");
    CHECK_MESSAGE(r.err.empty(), r.err);
    CHECK(Json::parse(read("piped.json"))["cases"][1]["problem"] == "f32*f32+f32->f32 16x16x16");
    // The exit code is the program's own.
    const Run coded = run_shell("{ \"$@\"; echo $? >code.txt; } | head -n 1", "kernels");
    CHECK_MESSAGE(coded.err.empty(), coded.err);
    CHECK(read("code.txt") == "0\n");
}

TEST_CASE("one file that cannot be written costs no other") {
    const Folder folder("streams_files");
    std::filesystem::create_symlink("/dev/full", "full.json");
    expect(run(2, "bench 8x8x8 --repeats 2 --json full.json --csv new.csv --plot new.svg").err, {"full.json"});
    expect_picture(read("new.svg"));
    expect(read("new.csv"), {"f32*f32+f32->f32 8x8x8"});
    expect(run(2, "devices --json full.json").err, {"full.json"});
}

TEST_SUITE_END();
