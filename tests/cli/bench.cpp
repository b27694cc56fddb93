// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <chrono>

#include "cli/program.h"

using namespace vkgemm::test;

TEST_SUITE_BEGIN("bench");

TEST_CASE("bench: a picture alone, and code 3 if nothing serves") {
    const Folder folder("bench");
    const Run r = run(0, "bench 8x8x8 --repeats 1 --plot - --quiet");
    expect_picture(r.out);
    CHECK_MESSAGE(r.err.empty(), r.err);
    run(3, "bench 'f64*f64+f32->f64 8x8x8' --kernel all");
    write("f64.txt", "f64*f64+f32->f64 8x8x8\n");
    run(0, "bench --suite f64.txt --kernel all");  // a suite may hold more than a build
}

TEST_CASE("bench: what was asked for is in the file; a name that is not UTF-8 does not cost the run") {
    const Folder folder("bench_options");
    const std::string name = "rows\xe9";
    write(name, "# none\n");
    const Variable tuned("VKGEMM_TUNED", name);
    run(0, "bench '8x8x8 batch=2' --shape 8x8x9 --layout nt --repeats 1 --device 0 --json bytes.json");
    const Json options = Json::parse(read("bytes.json"))["options"];
    CHECK(options["problems"] == Json::array({"8x8x8 batch=2"}));
    CHECK(options["shape"] == "8x8x9");
    CHECK(options["layout"] == "nt");
    CHECK(options["device"] == "0");
    CHECK(options["validate"] == false);
    CHECK(options["suite"] == "");
    CHECK(options["type"] == "");
    CHECK(options["repeats"] == 1);
    CHECK(options["tuned"] == "rows\xef\xbf\xbd");
}

TEST_CASE("bench: where the time of several problems went") {
    const Folder folder("bench_phases");
    const auto began = std::chrono::steady_clock::now();
    const std::string out = run(0, "bench 8x8x8 9x9x9 --repeats 1 --json r.json").out;
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - began;
    const Json seconds = Json::parse(read("r.json"))["seconds"];
    double all = 0;
    for (const char* const phase : {"compiles", "makes operands", "checks", "warms up", "times runs"}) {
        REQUIRE_MESSAGE(seconds.contains(phase), phase);
        CHECK(seconds[phase].get<double>() > 0);
    }
    for (const Json& phase : seconds) all += phase.get<double>();
    CHECK(all <= passed.count());
    CHECK(seconds["warms up"].get<double>() > 0.7);  // 0.4 s of load for each
    expect(out, {"took ", "warms up ", "compiles "});
    CHECK(run(0, "bench 8x8x8 --repeats 1").out.find("took ") == std::string::npos);
}

TEST_CASE("bench: a terminal shows what is done now, and how long the rest may take") {
    const Folder folder("bench_progress");
    const std::string shown = run_on_terminal(0, "bench 8x8x8 9x9x9 --repeats 1").out;
    for (const std::string phase : {"compiles", "makes operands", "checks", "warms up", "times runs"})
        CHECK_MESSAGE(contains(shown, "[1/2] f32*f32+f32->f32 8x8x8: " + phase), phase);
    expect(shown, {"[2/2, about ", " s left] f32*f32+f32->f32 9x9x9: compiles"});
    CHECK(!contains(run_on_terminal(0, "bench 8x8x8 --repeats 1 --quiet").out, "[1/1"));
}

TEST_CASE("bench --operands addresses: the plan takes addresses, which the title says") {
    const Folder folder("bench_addresses");
    const std::string out = run(0, "bench 8x8x8 --repeats 1 --operands addresses --json r.json").out;
    expect(out, {"8x8x8, hot, by address"});
    CHECK(Json::parse(read("r.json"))["options"]["plan"]["operands"] == "addresses");
    CHECK(run(0, "bench 8x8x8 --repeats 1").out.find("by address") == std::string::npos);
}

TEST_CASE("bench --random: what the choice loses, and every time in the file") {
    const Folder folder("bench_random");
    const std::string out = run(0,
                                "bench --random 2 --seed 3 --type f32,i8 --max-flops 2e7 --kernel shaders,all --json "
                                "r.json --csv r.csv --quiet")
                                .out;
    expect(out, {"lost", "chosen", "geometric mean", "worst twentieth", "i8*i8+i32->i32"});
    const Json j = Json::parse(read("r.json"));
    CHECK((j["options"]["random"] == 2 && j["options"]["seed"] == 3 && j["options"]["kernel"] == "shaders,all"));
    CHECK(j["lost"]["all"]["problems"] == 2);
    REQUIRE(j["random"].size() == 2);
    for (const Json& p : j["random"]) {
        REQUIRE(p["tried"].size() >= 2);
        const Json &best = p["tried"][p["best"].get<size_t>()], &chosen = p["tried"][p["chosen"].get<size_t>()];
        CHECK((best["final"] == true && chosen["final"] == true));
        CHECK(best["seconds"].get<double>() <= chosen["seconds"].get<double>());
        // Both were timed once more, and then the choice may be the faster one.
        const double last_chosen = p["again"]["chosen"].get<double>(), last_best = p["again"]["best"].get<double>();
        const double expected = p["best"] == p["chosen"] ? 0 : 1 - last_best / last_chosen;
        CHECK(p["loss"].get<double>() == doctest::Approx(expected));
    }
    size_t times = 0, lines = 0;
    for (const Json& p : j["random"])
        for (const Json& t : p["tried"]) times += !t["seconds"].is_null();
    const std::string csv = read("r.csv");
    for (const char c : csv) lines += c == '\n';
    CHECK(csv.starts_with("problem,type,kernel,tile,cost,seconds,final,chosen\n\"f32*f32"));
    CHECK(lines == times + 1);
    refused(2, "bench --random 1 --json r.json --csv r.json", {"--csv"});
    expect(run(0, "bench --random 50 --max-flops 2e7 --type f32 --budget 0.1 --quiet").out, {"1 of 50 problems"});
    write("two.txt", "144x144x144\ni8*i8 136x160x144\n");
    refused(2, "bench --random 1 --suite two.txt --type f32", {"--suite", "--type"});
    refused(2, "bench --random 1 --suite two.txt --draw networks", {"--draw", "--suite"});
    expect(run(0, "bench --random 9 --suite two.txt --kernel shaders,all --quiet").out, {"2 of 2 problems", "i8*i8"});
    run(0, "bench --random 1 --draw networks --max-flops 3e7 --type f32 --quiet --json r.json");
    CHECK(Json::parse(read("r.json"))["options"]["draw"] == "networks");
}

TEST_CASE("bench --random: options that say nothing beside it are refused") {
    refused(2, "bench --seed 1 8x8x8", {"--random"});
    refused(2, "bench --random 1 8x8x8", {"--random"});
    refused(2, "bench --random 1 --repeats 3", {"--random"});
    refused(2, "bench --random 0", {"--random"});
    refused(2, "bench --random 1 --kernel auto", {"auto,all"});
    refused(2, "bench --random 1 --kernel auto,shaders", {"auto,all"});
    refused(2, "bench --random 1 --type f23", {"f23"});
    refused(2, "bench --random 1 --draw network", {"--draw", "networks"});
    refused(2, "bench --draw networks 8x8x8", {"--random"});
    refused(2, "bench --random 1 --max-flops 1", {"--max-flops"});
    refused(2, "bench --from old.json --random 1", {"--from"});
}

TEST_SUITE_END();
TEST_SUITE_BEGIN("bench_saved");

TEST_CASE("bench --from: a saved result gives the same table, CSV and picture; a cut file is refused by its line") {
    const Folder folder("saved");
    run(0, "bench 16x16x16 17x17x17 18x18x18 33x33x33 --repeats 3 --json saved.json --csv one.csv");
    expect(run(0, "bench --from saved.json --csv two.csv --plot saved.svg").out, {"33x33x33, hot"});
    CHECK(!read("one.csv").empty());
    CHECK(read("one.csv") == read("two.csv"));
    expect_picture(read("saved.svg"));
    expect(read("saved.svg"), {"M = N = K"});
    expect_picture(run(0, "bench --from saved.json --plot -").out);
    refused(2, "bench 8x8x8 --from saved.json", {"--from"});

    const std::string saved = read("saved.json");
    for (const size_t tenth : {0u, 1u, 2u, 5u, 9u}) {
        write("cut.json", saved.substr(0, saved.size() * tenth / 10));
        refused(2, "bench --from cut.json --plot cut.svg", {"cut.json", "line "});
    }
    CHECK(!is_file("cut.svg"));
    CHECK(!is_file("cut.svg.partial"));
}

TEST_CASE("bench --from: the spread of the runs is in the table, and a noisy row is marked") {
    const Folder folder("saved_spread");
    Json saved = Json::parse(read(VKGEMM_SOURCE_DIR "/docs/results/example.json"));
    saved["cases"].erase(1);
    write("noisy.json", saved.dump());
    expect(run(0, "bench --from noisy.json").out, {"-26 +39%", "noisy: the middle half of its runs is 57 %"});
    Json& row = saved["cases"][0];  // with the same median and ends, and all else at the median
    for (size_t i = 0; i < row["samples"].size(); ++i)
        row["samples"][i] = i == 0 ? row["min"] : i == 1 ? row["p95"] : row["median"];
    write("quiet.json", saved.dump());
    const std::string quiet = run(0, "bench --from quiet.json").out;
    expect(quiet, {"-26 +39%"});
    CHECK(!contains(quiet, "noisy"));
}

TEST_CASE("bench --from: the lines of a picture are the choice and the choice in GLSL, or each kernel") {
    const Folder folder("saved_lines");
    run(0, "bench 16x16x16 17x17x17 18x18x18 33x33x33 --repeats 3 --json saved.json");
    const Json saved = Json::parse(read("saved.json"));
    const auto picture = [&](const char* first, const char* second) {
        Json json = saved;
        json["cases"].clear();
        for (const Json& c : saved["cases"])
            for (const char* kernel : {first, second}) {
                json["cases"].push_back(c);
                json["cases"].back()["kernel"] = kernel;
            }
        write("two.json", json.dump());
        return run(0, "bench --from two.json --plot -").out;
    };
    const std::string choices = picture("wgmma_f16_128x256x64", "simt_f32_64x64x16");
    expect(choices, {">vkgemm<", ">vkgemm, GLSL alone<"});
    CHECK(!contains(choices, "simt_f32"));
    expect(picture("tiled_f32_8x8", "simt_f32_64x64x16"), {">tiled_f32_8x8<", ">simt_f32_64x64x16<"});
}

TEST_CASE("bench: measured peaks are in the result, and the saved result shows the same ones") {
    const Folder folder("saved_roof");
    const std::string first = run(0, "bench 16x16x16 --repeats 3 --json saved.json").out;
    const Json peaks = Json::parse(read("saved.json"))["roofline"]["peak_tflops"];
    CHECK(peaks.empty() != contains(first, "FLOP/B"));  // empty in a build from prebuilt SPIR-V
    CHECK(contains(run(0, "bench --from saved.json").out, "FLOP/B") != peaks.empty());
}

TEST_CASE("bench --from: what is wrong in the file is named with its place") {
    const Folder folder("saved_wrong");
    run(0, "bench 16x16x16 17x17x17 --repeats 3 --json saved.json");
    const std::string saved = read("saved.json");
    const struct {
        std::string from, to, named;
    } texts[] = {
        {"program", "pogrom", "other.json"},
        {"\"schema\": 1", "\"schema\": 2", "schema is 2, not 1"},
        {"\"tile\"", "\"tiel\"", "cases[0].tile"},
        {"\"samples\"", "\"simples\"", "cases[0].samples"},
        {"\"median\": ", "\"median\": 7, \"q\": ", "cases[0].median is 7"},
        {"\"p95\": ", "\"p95\": null, \"q\": ", "cases[0].p95"},
        {"\"bench\"", "\"ladder\"", "command"},
        {"\"checked\": \"all\"", "\"checked\": \"most\"", "cases[0].checked is 'most'"},
        {"\"clock\": \"", "\"clock\": \"wall ", "cases[0].clock is 'wall "},
        {"_f32_", "\\n", "cases[0].kernel"},
        {"17x17x17", "17x17", "cases[1].problem"},
    };
    for (const auto& text : texts) {
        const auto& [from_, to, named] = text;
        const std::string from = from_;
        REQUIRE_MESSAGE(contains(saved, from), std::string(from));
        write("other.json", replace(saved, from, to));
        refused(2, "bench --from other.json", {"other.json: ", named});
    }
    const struct {
        const char* key;
        Json value;
        std::string named;
    } values[] = {
        {"target_tflops", 1e300, "cases[0].target_tflops"},
        {"samples", Json::array({1e-310}), "cases[0].samples[0]"},
        {"samples", Json::array(), "cases[0].samples"},
    };
    for (const auto& [key, value, named] : values) {
        Json json = Json::parse(saved);
        json["cases"][0][key] = value;
        write("other.json", json.dump(2));
        refused(2, "bench --from other.json --plot other.svg", {"other.json: " + named});
    }
    CHECK(!is_file("other.svg"));
}

TEST_CASE("bench --from: equal problems stay two cases, an infinite error stays infinite, wrong stays wrong") {
    const Folder folder("saved_twice");
    run(0,
        "bench 16x16x16 16x16x16 'f16*f16 8x8x8 alpha=1e9' 'f16*f16+f32->f32 8x8x8' --repeats 2 --json twice.json "
        "--csv one.csv");
    Json json = Json::parse(read("twice.json"));
    CHECK(json["cases"][2]["deviation"] == "inf");
    run(0, "bench --from twice.json --csv two.csv");
    CHECK(read("one.csv") == read("two.csv"));
    expect(read("one.csv"), {",inf,0,"});

    json["baselines"] = Json::array({{{"name", "baseline"}, {"title", "by hand"}}});
    for (size_t i = 0; i < 2; ++i) {
        Json baseline = json["cases"][i];
        baseline["name"] = "baseline";
        json["cases"][i]["baselines"] = Json::array({baseline});
    }
    write("baseline.json", json.dump(2));
    expect(run(0, "bench --from baseline.json --csv two.csv").out, {"by hand"});
    std::vector<std::string> who;  // the second column
    for (const std::string& line : rows(read("two.csv"))) {
        const size_t from = line.find(',') + 1;
        if (contains(line, "16x16x16")) who.push_back(line.substr(from, line.find(',', from) - from));
    }
    CHECK(who == std::vector<std::string>{"vkgemm", "baseline", "vkgemm", "baseline"});

    json["interrupted"] = true;
    for (const auto& [key, code] : {std::pair("wrong", 1), std::pair("error", 0)}) {
        Json other = json;
        other["cases"][0][key] = "D[0][0] is 3 and should be 5";
        write("wrong.json", other.dump(2));
        const Run r = run(code, "bench --from wrong.json");
        expect(r.out, {"D[0][0] is 3"});
        CHECK(contains(r.out, "WRONG") == (code == 1));
        expect(r.err, {"interrupted"});
    }
}

TEST_SUITE_END();
