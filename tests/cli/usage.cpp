// SPDX-License-Identifier: MIT
// Code 2: what is wrong on the command line is named, with what would work; nothing is computed and no file is made.
#include <doctest/doctest.h>

#include "cli/program.h"

using namespace vkgemm::test;

TEST_SUITE_BEGIN("usage");

TEST_CASE("help and version go to standard output, and to standard error when no command is given") {
    const Folder folder("usage_help");
    const std::string help = run(0, "--help").out;
    expect(help, {"vkgemm COMMAND", "bench", "check", "cover", "devices", "explain", "inspect", "kernels", "ladder",
                  "replay", "tune", "--device", "--validate", "--quiet", "--color"});
    expect(help, {"groups=", "outer=", "scalars=", "clamp=LOW:HIGH", "leaky=SLOPE", "pair=silu."});
    CHECK(!contains(help, "generate"));  // it is for packagers
    CHECK(!contains(help, "--inject-fault"));
    refused(2, "", {"vkgemm COMMAND", "bench"});
    for (const std::string command :
         {"bench", "check", "cover", "devices", "explain", "inspect", "kernels", "ladder", "replay", "tune"}) {
        const Run r = run(0, command + " --help");
        CHECK_MESSAGE(r.err.empty(), r.err);
        expect(r.out, {"vkgemm " + command, "--device", "--help"});
        CHECK(!contains(r.out, "--inject-fault"));
    }
    CHECK(run(0, "help").out == help);
    CHECK(run(0, "help bench").out == run(0, "bench --help").out);
    const std::string version = run(0, "--version").out;
    CHECK(run(0, "-V").out == version);
    CHECK(version.starts_with("vkgemm 0."));
    CHECK(version.ends_with("\n"));
}

TEST_CASE("an unknown word gets the nearest known one") {
    const Folder folder("usage_nearest");
    refused(2, "explian 8x8x8", {"'explian'", "'explain'"});
    refused(2, "help bensh", {"'bensh'", "'bench'"});
    refused(2, "halp", {"'halp'", "'help'"});
    refused(2, "explain --kernl x", {"'--kernl'", "'--kernel'"});
    refused(2, "explain 8x8x8 --kernel naive_f32_8x9", {"'naive_f32_8x9'", "'naive_f32_8x8'"});
    refused(2, "explain 8x8x8 --kernel mine", {"'mine'", "'vkgemm kernels' lists"});
    refused(2, "bench 8x8x8 --kernel simt", {"'simt' is a family", "simt_f32_"});
    refused(2, "bench --suite clasic", {"No such file", "'clasic'", "'classic'"});
    refused(2, "bench --suite .", {"cannot read .: Is a directory"});
    refused(2, "bench 8x8x8 --vs openblass", {"'openblass'", "'openblas'"});
    refused(2, "ladder 8x8x8", {"'8x8x8'", "'--shape 8x8x8'"});
    refused(2, "explain f16*f16 8x8x8", {"'8x8x8'", "PROBLEM"});
    refused(2, "kernels --color red", {"--color", "'red'", "auto", "always", "never"});
    refused(2, "generate tex", {"'tex'", "man", "bash", "zsh", "fish"});
}

TEST_CASE("-- ends the options: what follows is an argument") {
    const Folder folder("usage_dashes");
    CHECK(run(0, "explain --json - -- 8x8x8").json()["problem"] == "f32*f32+f32->f32 8x8x8");
    CHECK(run(0, "explain --json - 8x8x8 --").json()["problem"] == "f32*f32+f32->f32 8x8x8");
    refused(2, "explain -- --kernel", {"--kernel"});
    refused(2, "replay -- -none.vkgemm", {"cannot read -none.vkgemm"});
}

TEST_CASE("what is missing is named") {
    const Folder folder("usage_missing");
    refused(2, "explain", {"a PROBLEM is missing, such as 64x128x256"});
    refused(2, "explain 8x8x8 --kernel simt", {"'simt' is a family; give one of its kernels, such as simt_"});
    refused(2, "explain --json", {"--json", "FILE"});
    refused(2, "inspect", {"PROBLEM", "--kernel"});
    refused(2, "cover", {"--kernel"});
    refused(2, "replay", {"FILE"});
    refused(2, "bench 8x8x8 --json ''", {"--json"});
    refused(2, "bench --suite - --json -", {"'-'"});
}

TEST_CASE("a number that is out of range gets its limits") {
    const Folder folder("usage_limits");
    refused(2, "bench --min-time soon", {"--min-time", "0.001", "3600", "'soon'"});
    refused(2, "bench --repeats 0", {"--repeats", "1", "100000", "'0'"});
    refused(2, "check --seed -1", {"--seed", "0", "1e+15", "'-1'"});
    for (const std::string command : {"bench", "tune"})
        refused(2, command + " --random 20 --seed x", {"--seed", "0", "1e+15", "'x'"});
    refused(2, "bench 8x8x8 --quiet=maybe", {"--quiet takes no value"});
    refused(2, "check --runs 1.5", {"--runs", "1000000", "'1.5'"});
    refused(2, "tune 8x8x8 --budget 0", {"--budget", "0.1", "'0'"});
    refused(2, "ladder --size 65537", {"--size", "65536", "'65537'"});
    expect(run(3, "explain 1x99999999999x1").err, {"99999999999", "2147483647"});
    expect(run(3, "check 2000000x2000000x8").err, {"2000000x2000000x8", "14.6 TiB", "host memory", "smaller sizes"});
    refused(3, "ladder --shape 2000000x2000000x8", {"2000000x2000000x8", "14.6 TiB", "host memory"});
    const Run huge = run(3, "bench 999999999999x64x64 --json huge.json");
    expect(huge.out, {"999999999999x64x64", "465.7 TiB", "host memory", "smaller sizes"});
    CHECK(Json::parse(read("huge.json"))["roofline"]["peak_tflops"].empty());  // refused before anything is measured
}

TEST_CASE("options that exclude one another are both named") {
    const Folder folder("usage_excludes");
    refused(2, "bench 8x8x8 --min-time 1 --repeats 3", {"--min-time", "--repeats"});
    refused(2, "bench --from x.json 8x8x8", {"PROBLEM", "--from"});
    refused(2, "bench 8x8x8 --json a.json --json b.json", {"--json"});
    refused(2, "bench 8x8x8 --vs openblas,openblas", {"--vs"});
    refused(2, "bench 8x8x8 --kernel all --tile BM=8", {"--tile", "--kernel all"});
    refused(2, "bench 8x8x8 --layout nt", {"--layout", "--shape"});
    refused(2, "bench --from none.json --device nobody", {"--from", "--device"});
    refused(2, "bench --from none.json --validate", {"--from", "--validate"});
    refused(2, "devices --device nobody", {"devices"});
    refused(2, "devices --validate", {"devices"});
    refused(2, "inspect --kernel all --tile BM=8", {"--tile"});
}

TEST_CASE("standard output and a file are each for one result") {
    const Folder folder("usage_places");
    refused(2, "inspect --kernel naive_f32_8x8 --json - --asm -", {"--json -", "--asm -"});
    refused(2, "ladder --json - --plot -", {"--json -", "--plot -"});
    refused(2, "bench 8x8x8 --json - --csv -", {"--json -", "--csv -"});
    refused(2, "bench 8x8x8 --csv - --plot -", {"--csv -", "--plot -"});
    refused(2, "bench --from none.json --csv - --plot -", {"--csv -", "--plot -"});
    refused(2, "bench 8x8x8 --json x --csv ./x", {"--json x", "--csv ./x"});
    CHECK(!is_file("x"));
    write("mine.txt", "8x8x8\n");
    for (const std::string option : {"bench --json", "tune --out", "check --out"})
        refused(2, option + " mine.txt --suite mine.txt", {"--suite mine.txt", option.substr(option.find('-'))});
    CHECK(read("mine.txt") == "8x8x8\n");
}

TEST_CASE("a file that cannot be written is refused before anything is computed") {
    const Folder folder("usage_files");
    refused(2, "tune 8x8x8 --resume --out none/none.txt", {"none/none.txt"});
    refused(2, "explain 8x8x8 --json none/x.json", {"none/x.json"});
    refused(2, "bench 8x8x8 --tile BM=x --json kept.json", {"'x'"});
    CHECK(!is_file("kept.json"));
    CHECK(!is_file("kept.json.partial"));
}

TEST_CASE("a picture in another format than SVG is refused, with what would work") {
    const Folder folder("usage_pictures");
    for (const std::string words : {"bench 8x8x8 --plot x.png", "bench --from none.json --plot x.PNG",
                                    "ladder --plot x.pdf", "cover --kernel naive_f32_8x8 --plot x.jpg"})
        refused(2, words, {"--plot writes SVG", "x.svg", "rsvg-convert"});
    CHECK(!is_file("x.png"));
}

TEST_CASE("a problem that cannot be read is marked; one without a product is refused") {
    const Folder folder("usage_problems");
    refused(2, "kernels '8x8x8 bais=row'", {"\n    8x8x8 bais=row\n          ^\n", "'bais='", "'bias='"});
    for (const std::string words : {"bench 0x8x8", "check 8x0x8 --kernel naive", "ladder --shape 0x8x8",
                                    "inspect 0x8x8", "kernels 0x8x8", "tune 0x8x8", "cover 0x8x8 --kernel naive"})
        refused(2, words, {"m or n is 0"});
    refused(2, "explain '8x8x8 beta=1 c=none'", {"beta is 1"});
    CHECK(run(2, "explain " + std::string(100'000, '9') + "x1x1").err.size() < 400);  // only the beginning is quoted
    for (const std::string words :
         {"explain", "bench 8x8x8", "check --kernel naive", "inspect", "tune", "cover --kernel naive"})
        refused(2, words + " 'f16*q4_0 8x8x250 layout=nt'", {"k is 250", "pad it to 256"});
    refused(2, "bench --shape 8x8x250 --type 'f16*q4_0' --layout nt", {"8x8x250", "pad it to 256"});
    refused(2, "check '8x8x8 alpha=1e300' --kernel naive", {"alpha", "1e+300"});
}

TEST_SUITE_END();
