// SPDX-License-Identifier: MIT
// Standard streams and files that do not take what is written to them.
#include <doctest/doctest.h>

#include <filesystem>

#include "cli/program.h"

using namespace vkgemm::test;

TEST_SUITE_BEGIN("streams");

TEST_CASE("code 5: standard output is full or closed; a file is still written") {
    const Folder folder("streams_full");
    for (const std::string words : {"--help", "devices --json -"}) {
        const Run r = run_shell("\"$@\" >/dev/full", words);
        CHECK(r.code == 5);
        expect(r.err, {"standard output: No space left on device"});
    }
    const Run closed = run_shell("\"$@\" >&-", "kernels --json closed.json");
    CHECK(closed.code == 5);
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
    expect(run(5, "bench 8x8x8 --repeats 2 --json full.json --csv new.csv --plot new.svg").err, {"full.json"});
    expect_picture(read("new.svg"));
    expect(read("new.csv"), {"f32*f32+f32->f32 8x8x8"});
    expect(run(5, "devices --json full.json").err, {"full.json"});
}

TEST_CASE("code 5: a folder or a file without permission, before anything is computed") {
    const Folder folder("streams_permission");
    std::filesystem::create_directory("mine");
    write("secret.json", "{}");
    std::filesystem::permissions("mine", std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
    std::filesystem::permissions("secret.json", std::filesystem::perms::none);
    write("probe.sh", "cat secret.json >/dev/null 2>&1");
    if (run_shell("sh probe.sh").code == 0) {  // root may do everything, so it gets a folder where nobody may write
        MESSAGE("permissions do not bind this user");
        if (std::filesystem::is_directory("/sys/kernel")) refused(5, "devices --json /sys/new.json", {"/sys/new.json"});
        return;
    }
    refused(5, "bench 8x8x8 --json mine/x.json", {"mine/x.json", "ermission"});
    refused(5, "bench --from secret.json", {"secret.json", "ermission"});
    std::filesystem::permissions("mine", std::filesystem::perms::owner_all);
}

TEST_CASE("code 5: what cannot be read has its reason, also as a suite; a run that cannot be captured, too") {
    const Folder folder("streams_unreadable");
    if (std::filesystem::exists("/proc/self/mem"))  // which nobody can read at its beginning
        for (const std::string option : {"bench --suite", "bench --from", "replay"})
            refused(5, option + " /proc/self/mem", {"cannot read /proc/self/mem: Input/output error"});
    const Variable capture("VKGEMM_CAPTURE", "/dev/null");
    expect(run(0, "check 8x8x8 --kernel naive_f32_8x8 --runs 1").err,
           {"VKGEMM_CAPTURE: cannot write /dev/null/naive_f32_8x8-", "Not a directory"});
}

TEST_CASE("code 3: more memory than the process may take is refused at once, with the sizes") {
    const Folder folder("streams_memory");
    const Run r = run_shell("ulimit -v 5000000; \"$@\"", "bench 20000x20000x100");
    CHECK(r.code == 3);
    expect(r.out + r.err, {"20000x20000x100: its operands have 1.5 GiB", "ulimit -v", "smaller sizes"});
}

TEST_SUITE_END();
