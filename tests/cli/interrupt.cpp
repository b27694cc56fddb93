// SPDX-License-Identifier: MIT
// Ctrl-C: the program ends with code 130, and what it found until then is in whole files.
#include <doctest/doctest.h>

#include <csignal>

#include "cli/program.h"

using namespace vkgemm::test;

namespace {

/// The result of a run that was cut short; nothing unfinished stands beside it.
Json cut_short(const std::string& path) {
    CHECK(!is_file(path + ".partial"));
    const Json json = Json::parse(read(path), nullptr, false);
    REQUIRE_MESSAGE(!json.is_discarded(), read(path));
    CHECK(json["interrupted"] == true);
    return json;
}

}  // namespace

TEST_SUITE_BEGIN("interrupt");

TEST_CASE("interrupt: bench keeps what it measured") {
    const Folder folder("interrupt_bench");
    const Run r = run_until([] { return contains(read("out.txt"), "cpu_f32_32x32"); }, SIGINT,
                            "bench 16x16x16 512x512x512 --kernel cpu_f32_32x32 --repeats 20000 --json bench.json "
                            "--csv bench.csv --plot bench.svg");
    CHECK(r.code == 130);
    expect(r.err, {"interrupted"});
    const Json cases = cut_short("bench.json")["cases"];
    CHECK(cases[0]["samples"].size() == 20000);  // of the first problem, all of them
    expect_picture(read("bench.svg"));
    CHECK(contains(read("bench.csv"), "16x16x16"));
    run(0, "bench --from bench.json");
}

TEST_CASE("interrupt: ladder keeps its rungs when the terminal goes away") {
    const Folder folder("interrupt_ladder");
    // The first rungs of 512x512x512 take longer than that, and eight are there. Both is right: that one was timed by
    // then, and that none was.
    const auto begin = std::chrono::steady_clock::now();
    const auto ready = [&] {
        return is_file("ladder.json.partial") && std::chrono::steady_clock::now() - begin > std::chrono::seconds(3);
    };
    const Run r = run_until(ready, SIGHUP, "ladder --size 512 --json ladder.json");
    CHECK(r.code == 130);
    if (is_file("ladder.json")) cut_short("ladder.json");
    CHECK(!is_file("ladder.json.partial"));
}

TEST_CASE("interrupt: tune keeps the rows of the problems that it finished") {
    const Folder folder("interrupt_tune");
    const Run r = run_until([] { return !rows(read("rows.txt")).empty(); }, SIGTERM,
                            "tune 'f16*f16+f16 16x16x16' 512x512x512 --budget 90 --out rows.txt");
    CHECK(r.code == 130);
    expect(r.err, {"interrupted"});
    expect(rows(read("rows.txt")).front(), {"| f16*f16+f16->f16 16x16x16 |"});
    const Variable tuned("VKGEMM_TUNED", "rows.txt");
    run(0, "explain 'f16*f16+f16 16x16x16'");
}

TEST_CASE("interrupt: the old file stays when nothing was measured") {
    const Folder folder("interrupt_early");
    write("kept.json", "old");
    const Run r =
        run_until([] { return is_file("kept.json.partial"); }, SIGINT, "bench 2048x2048x2048 --json kept.json");
    CHECK(r.code == 130);
    expect(r.err, {"interrupted"});
    CHECK(read("kept.json") == "old");
    CHECK(!is_file("kept.json.partial"));
}

TEST_CASE("interrupt: a product that takes many seconds is left within a few, and a second Ctrl-C is announced") {
    using Clock = std::chrono::steady_clock;
    const Folder folder("interrupt_long");
    const auto begin = Clock::now();
    Clock::time_point sent;
    const auto ready = [&] {  // its operands are there by then, and 250 GFLOP have begun
        sent = Clock::now();
        return sent - begin > std::chrono::seconds(6);
    };
    const Run r = run_until(ready, SIGINT, "bench 5000x5000x5000 --no-check --json long.json");
    const double waited = std::chrono::duration<double>(Clock::now() - sent).count();
    CHECK(r.code == 130);
    CHECK_MESSAGE(waited < 4, "it ended ", waited, " s after Ctrl-C");
    expect(r.err, {"Ctrl-C again ends it at once", "interrupted before the first result"});
    CHECK(!is_file("long.json"));
}

TEST_CASE("interrupt: bench --random keeps the problems that it measured, and leaves a long one within seconds") {
    using Clock = std::chrono::steady_clock;
    const Folder folder("interrupt_random");
    const auto begin = Clock::now();
    Clock::time_point sent;
    const auto ready = [&] {  // one problem of them may take minutes
        sent = Clock::now();
        return sent - begin > std::chrono::seconds(6);
    };
    const Run r =
        run_until(ready, SIGINT, "bench --random 3 --type f32 --seed 1 --max-flops 2e12 --json random.json --quiet");
    const double waited = std::chrono::duration<double>(Clock::now() - sent).count();
    CHECK(r.code == 130);
    CHECK_MESSAGE(waited < 5, "it ended ", waited, " s after Ctrl-C");
    expect(r.err, {"Ctrl-C again ends it at once"});
    const bool none = r.err.find("interrupted before the first result; no file is written") != std::string::npos;
    CHECK(is_file("random.json") != none);
    CHECK(!is_file("random.json.partial"));
}

TEST_CASE("interrupt: cover ends within seconds while a kernel is traced") {
    using Clock = std::chrono::steady_clock;
    const Folder folder("interrupt_cover");
    const auto begin = Clock::now();
    Clock::time_point sent;
    const auto ready = [&] {  // 3.4 G traced accesses take a minute and more
        sent = Clock::now();
        return sent - begin > std::chrono::seconds(6);
    };
    const Run r = run_until(ready, SIGINT, "cover 1200x1200x1200 --kernel naive_f32_8x8 --plot cover.svg");
    const double waited = std::chrono::duration<double>(Clock::now() - sent).count();
    CHECK(r.code == 130);
    CHECK_MESSAGE(waited < 5, "it ended ", waited, " s after Ctrl-C");
    expect(r.err, {"Ctrl-C again ends it at once", "interrupted; 0 of 1 kernels were traced"});
    CHECK(!is_file("cover.svg"));
}

TEST_SUITE_END();
