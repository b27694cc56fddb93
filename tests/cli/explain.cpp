// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <filesystem>

#include "cli/program.h"

using namespace vkgemm::test;

TEST_SUITE_BEGIN("explain");

TEST_CASE("explain is JSON alone, where that is asked for, and silent under validation") {
    const Folder folder("explain");
    const Run r = run(0, "explain 64x64x64 --json - --validate");
    expect(r.err, {"validation"});
    const Json json = r.json();
    CHECK(json["problem"] == "f32*f32+f32->f32 64x64x64");
    CHECK(json["others"][0]["kernel"] == "naive_f32_8x8");
    CHECK(run(0, "explain 64x64x64 --json - --validate --quiet").err == "");
}

TEST_CASE("colours are for terminals, unless they are asked for") {
    const Folder folder("explain_colour");
    const std::string escape = "\x1b[";
    CHECK(contains(run(0, "explain 64x64x64 --color always").out, escape));
    CHECK(!contains(run(0, "explain 64x64x64").out, escape));
    CHECK(contains(run_on_terminal(0, "explain 64x64x64").out, escape));
    CHECK(!contains(run_on_terminal(0, "explain 64x64x64 --color never").out, escape));
    const Variable none("NO_COLOR", "1");
    CHECK(!contains(run_on_terminal(0, "explain 64x64x64").out, escape));
}

TEST_CASE("a tile that cannot be gets every reason, each on its line") {
    const Folder folder("explain_tile");
    const Run r = run(2, "explain 8x8x8 --kernel block_f32_64x64 --tile BM=60,BK=6");
    expect(r.err, {"block_f32_64x64:\n    ", "BM 60, TM 8", "BK 6, vector 4"});
    CHECK(rows(r.err).size() == 4);
}

TEST_CASE("code 3: no kernel of this build, or not this one") {
    const Folder folder("explain_unsupported");
    run(3, "explain 'f64*f64+f32->f64 8x8x8'");
    expect(run(3, "explain 8x8x8 --kernel gemv_f16_16x8").both(), {"gemv_f16_16x8", "f32"});
}

TEST_CASE("--tile that changes the choice: explain and bench name the kernel that was rejected") {
    const Folder folder("explain_rejected");
    const std::string chosen = run(0, "explain 64x64x64 --json -").json()["kernel"];
    const Json tiled = run(0, "explain 64x64x64 --tile BM=128 --json -").json();
    CHECK(tiled["kernel"] != chosen);
    expect(run(0, "explain 64x64x64 --tile BM=128").out, {"--tile", chosen, "\n" + chosen + " "});
    expect(run(0, "bench 64x64x64 --tile BM=128 --repeats 1 --json kept.json").out, {"--tile", chosen});
    expect(run(0, "bench --from kept.json").out, {"--tile", chosen});
}

TEST_CASE("explain has the API's defaults, and states what a workspace would bring") {
    const Folder folder("explain_workspace");
    const std::string problem = "'f16*f16 16x16x65536 layout=nt'";
    const Json none = run(0, "explain " + problem + " --json -").json();
    CHECK(none["options"]["plan"]["workspace_limit"] == 0);
    CHECK(none["workspace_bytes"] == 0);
    const Json useful = none["useful_workspace"];
    REQUIRE(useful.is_object());
    CHECK(useful["gain"].get<double>() > 1.1);
    const std::string bytes = std::to_string(useful["bytes"].get<uint64_t>());
    expect(run(0, "explain " + problem).out,
           {"a workspace of " + bytes + " bytes", useful["kernel"].get<std::string>(), "times faster"});
    const Json with = run(0, "explain " + problem + " --workspace " + bytes + " --json -").json();
    CHECK(with["kernel"] == useful["kernel"]);
    CHECK(with["workspace_bytes"] == useful["bytes"]);
    CHECK(with["useful_workspace"].is_null());
    CHECK(with["cost"].get<double>() * 1.1 < none["cost"].get<double>());
    const std::string bench = run(0, "bench " + problem + " --repeats 1").out;
    expect(bench, {"of workspace; with none, the library's default,", none["kernel"].get<std::string>(), "slower"});
    CHECK(!contains(run(0, "bench " + problem + " --repeats 1 --workspace 1GiB").out, "with none"));
}

TEST_CASE("explain: alignment, operands and words that none of them takes") {
    const Folder folder("explain_options");
    const Json plain = run(0, "explain 64x64x64 --json -").json();
    const Json odd = run(0, "explain 64x64x64 --alignment 4 --operands addresses --native off --json -").json();
    CHECK((plain["options"]["plan"]["alignment"] == 16 && odd["options"]["plan"]["alignment"] == 4));
    CHECK(odd["operands"] == "device addresses");
    refused(2, "explain 8x8x8 --workspace much", {"--workspace", "24MiB", "'much'"});
    refused(2, "explain 8x8x8 --alignment 12", {"--alignment", "power of two", "'12'"});
    refused(2, "explain 8x8x8 --operands adresses",
            {"--operands", "buffers or addresses or descriptors", "'addresses'"});
    refused(2, "explain 8x8x8 --native no", {"--native", "auto or off", "'no'"});
    expect(run(0, "explain '16x32x64 batch=4 groups=table'").out, {"groups", "begin at multiples of", "(A)"});
    for (const std::string command : {"bench --repeats 1", "check --runs 1 --kernel auto", "inspect"})
        run(0, command + " 16x16x16 --workspace 0 --alignment 4 --operands buffers --native off");
    run(0, "tune 8x8x8 --budget 0.2 --out t.txt --workspace 0 --operands addresses --native off");
}

TEST_CASE("explain loads a capture and a file of keys") {
    const Folder folder("explain_files");
    {
        const Variable capture("VKGEMM_CAPTURE", "calls");
        run(0, "check 33x20x17 --kernel cpu_f32_32x8 --runs 1");
    }
    std::string file;
    for (const auto& entry : std::filesystem::directory_iterator("calls")) file = entry.path().string();
    expect(run(0, "explain " + file).out,
           {"33x20x17 alpha=2", "captured on llvmpipe", "ran on cpu_f32_32x8", "the choice here"});
    // It is planned for operands as the captured run had them, unless the command line states others.
    const Json captured = run(0, "explain " + file + " --json -").json();
    CHECK(captured["options"]["plan"]["operands"] == "addresses");
    write("bound.vkgemm", replace(read(file), "\noperands addresses\n", "\noperands descriptors\n"));
    const Json bound = run(0, "explain bound.vkgemm --json -").json();
    CHECK(bound["options"]["plan"]["operands"] == "descriptors");
    CHECK(bound["operands"] == "pushed descriptors");
    CHECK(run(0, "explain bound.vkgemm --operands addresses --json -").json()["operands"] == "device addresses");
    write("keys.txt",
          "# mine\n0.2.0 naive_f32_8x8 addresses WG=64,BM=8,BN=8,TM=1,TN=1 WHOLE=1\n"
          "0.1.0 naive_f32_8x8 buffers WG=64,BM=8,BN=8\n0.2.0 naive_f32_9x9 buffers WG=64 WHOLE=1\n");
    expect(run(0, "explain keys.txt").out, {"naive_f32_8x8", "WG=64,BM=8,BN=8,TM=1,TN=1 WHOLE=1",
                                            "it is of vkgemm 0.1.0", "naive_f32_9x9", "1 of 3 can be"});
    CHECK(run(0, "explain keys.txt --json -").json()["keys"].size() == 3);
    // Whatever vkgemmCompilePipelines skips: also of passes, by their operands and by constants of the problem.
    write("skipped.txt",
          "0.2.0 naive_f32_8x8 images WG=64,BM=8,BN=8\n0.2.0 naive_f32_8x8 addresses WG=64,BM=8,BN=8 WHOLE=2\n"
          "0.2.0 naive_f32_8x8 addresses WG=64,BM=8,BN=8,TM=1,TN=1 FORMAT_A=8\n0.2.0 pack_32_64x64 grouped WG=64\n"
          "0.2.0 pack_32_64x64 addresses WG=4096\n");
    expect(run(0, "explain skipped.txt").out,
           {"'images'", "WHOLE is 2", "reads no FORMAT_A", "not the groups of a table", "at least one invocation",
            "0 of 5 can be"});
    write("other.txt", "64x64x64\n");
    refused(2, "explain other.txt", {"other.txt: line 1 is not a key", "capture", "pipeline keys"});
    refused(2, "explain none.vkgemm", {"cannot read none.vkgemm"});
}

TEST_SUITE_END();
