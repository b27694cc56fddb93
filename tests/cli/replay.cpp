// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <filesystem>

#include "cli/program.h"

using namespace vkgemm::test;

TEST_SUITE_BEGIN("replay");

TEST_CASE("replay: a captured call reproduces") {
    const Folder folder("replay");
    {
        const Variable capture("VKGEMM_CAPTURE", "captured");
        run(0, "check 'f16*f16 9x8x7 beta=1 batch=2 layout=tn bias=col ldb=24' --kernel tiled_f16_8x8 --runs 1");
    }
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator("captured")) files.push_back(entry.path().string());
    REQUIRE(files.size() == 1);
    expect(run(0, "replay " + files[0]).out, {"tiled_f16_8x8", "f16*f16+f32->f16 9x8x7"});
}

TEST_CASE("replay: scalars in memory and operands with types of their own are captured too") {
    const Folder folder("replay_scalars");
    {
        const Variable capture("VKGEMM_CAPTURE", "captured");
        run(0,
            "check 'f16*f16 9x8x7 beta=1 c=separate c_type=f32 bias=col bias_type=f32 clamp=-9:90 "
            "scalars=alpha,beta,clamp,monitor,largest' --kernel tiled_f16_8x8 --runs 1");
    }
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator("captured")) files.push_back(entry.path().string());
    REQUIRE(files.size() == 1);
    CHECK(contains(read(files[0]), "operand scalars 24 "));
    expect(run(0, "replay " + files[0]).out,
           {"tiled_f16_8x8", "c_type=f32", "scalars=alpha,beta,clamp,monitor,largest"});
}

TEST_CASE("replay: code 1 for another result, code 2 for what is not a whole capture") {
    const Folder folder("replay_files");
    const std::string whole =
        "vkgemm-capture 2\nversion 0.1.0\ndevice a pencil\ndriver paper\nproblem i8*i8+i32->i32 2x3x4\n"
        "kernel tiled_i8_8x8\ntile WG=64,BM=8,BN=8,BK=8,TM=1,TN=1\noperands addresses\nalignment 16\nworkspace 0\n"
        "operand a 8 b8c5303eddd8136d\noperand b 12 6c3aaed3e05a5cb5\noperand d 24 ae67bc9b5ceca905\n"
        "result 24 da879157c236108e\ndata\nABCDEFGHabcdefghijkl........................";
    write("whole.vkgemm", whole);
    expect(run(0, "replay whole.vkgemm").out, {"a pencil [paper]", "0.1.0", "da879157c236108e"});
    write("other.vkgemm", replace(whole, "da879157c236108e", "da879157c2361080"));
    expect(run(1, "replay other.vkgemm").both(), {"da879157c236108e", "da879157c2361080"});
    write("cut.vkgemm", whole.substr(0, whole.size() - 1));
    refused(2, "replay cut.vkgemm", {"cut.vkgemm", "byte " + std::to_string(whole.size() - 1), "operand d", "1 byte"});
    write("foreign.vkgemm", "hello\n");
    refused(2, "replay foreign.vkgemm", {"foreign.vkgemm", "line 1"});
    refused(2, "replay none.vkgemm", {"none.vkgemm"});
    write("lost.vkgemm", replace(whole, "da879157c236108e", "unknown"));
    expect(run(0, "replay lost.vkgemm").out, {"it runs", "da879157c236108e", "no result to compare with"});
    write("text.vkgemm", whole.substr(0, whole.find("operand a")));
    expect(run(2, "replay text.vkgemm").both(), {"text.vkgemm", "without its operands"});
}

TEST_CASE("replay: several files and folders, one after another, also after one that fails") {
    const Folder folder("replay_several");
    {
        const Variable capture("VKGEMM_CAPTURE", "captured");
        run(0, "check 9x8x7 8x8x8 --kernel naive_f32_8x8 --runs 1");
        run(0, "check 'f16*q4_0->f32 3x8x32 layout=nt groups=selected batch=2' --kernel auto --runs 1");
    }
    expect(run(0, "replay captured").out, {"9x8x7", "8x8x8", "groups=selected", "3 of 3 files are right"});
    write("captured/broken.vkgemm", "hello\n");
    const Run all = run(2, "replay captured");
    expect(all.out, {"9x8x7", "8x8x8", "3 of 4 files are right"});
    expect(all.err, {"broken.vkgemm", "line 1"});
    std::filesystem::create_directories("empty");
    refused(2, "replay empty", {"empty", "no file *.vkgemm"});
}

TEST_SUITE_END();
