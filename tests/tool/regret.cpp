// SPDX-License-Identifier: MIT
// Random problems, and what the choice loses on them.
#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "support/string_util.h"
#include "tools/vkgemm/report/regret_report.h"

using namespace vkgemm::tool;
using vkgemm::test::has_words;

namespace {

std::vector<RandomCase> drawn(size_t count, uint64_t seed, const std::string& types, double most = 2e11) {
    auto cases = random_problems(count, seed, types, most);
    REQUIRE_MESSAGE(bool(cases), cases.status().text);
    return *std::move(cases);
}

/// One problem: the choice is the second of its candidates, whose times these are.
Regret regret_of(const RandomCase& given, std::initializer_list<double> seconds) {
    Regret r{.given = &given, .tried = {}, .chosen = 1};
    for (const double s : seconds)
        r.tried.push_back({{"simt_f32_" + std::to_string(r.tried.size()), "SPLIT=1,PACK=1"}, s, s > 0});
    return r;
}

}  // namespace

TEST_CASE("random problems: the same on every machine, a smaller number of them the first of a larger") {
    const auto some = drawn(3, 1, "f32,f16"), more = drawn(40, 1, "f32,f16"), other = drawn(40, 2, "f32,f16");
    CHECK(some[0].c.text == "f32*f32+f32->f32 368x1216x40");
    CHECK(some[1].c.text == "f16*f16+f32->f16 48x1088x392 layout=nt");
    std::set<std::string> texts;
    for (size_t i = 0; i < more.size(); ++i) {
        if (i < some.size()) CHECK(more[i].c.text == some[i].c.text);
        CHECK(more[i].kind == (i % 2 ? "f16" : "f32"));
        CHECK(more[i].c.text != other[i].c.text);
        texts.insert(more[i].c.text);
    }
    CHECK(texts.size() == more.size());
}

TEST_CASE("random problems cover sizes, layouts, batches and alignments, within their limits") {
    size_t few_rows = 0, batched = 0, even = 0;
    std::set<std::string> kinds, layouts;
    const auto all = drawn(500, 7, default_random_types);
    for (const RandomCase& r : all) {
        const vkgemm::Problem& p = r.c.problem;
        CHECK((flops(r.c) >= 1e7 && flops(r.c) <= 2e11));
        CHECK(least_bytes(r.c) <= 512e6 * 1.1);
        CHECK(std::max({p.m, p.n, p.k}) < 16384);
        few_rows += p.m <= 16 || p.n <= 16;
        batched += p.batch > 1;
        even += p.m % 8 == 0 && p.n % 8 == 0 && p.k % 8 == 0;
        kinds.insert(r.kind);
        const size_t at = r.c.text.find("layout=");
        layouts.insert(at == std::string::npos ? "nn" : r.c.text.substr(at + 7, 2));
    }
    CHECK(kinds.size() == 5);
    CHECK(layouts == std::set<std::string>{"nn", "nt", "tn", "tt"});
    CHECK((few_rows > 50 && few_rows < 300));
    CHECK((batched > 75 && batched < 250));
    CHECK((even > 150 && even < 400));
    CHECK(drawn(5, 1, default_random_types)[4].c.problem.accuracy == VKGEMM_ACCURACY_F32_SPLIT);
    CHECK(flops(drawn(1, 1, "i8", 2e7)[0].c) <= 2e7);
}

TEST_CASE("random problems of networks: layers, attention and few rows") {
    const auto all = random_problems(600, 3, "f16,bf16", default_max_flops(Draw::networks), Draw::networks);
    REQUIRE(bool(all));
    size_t layers = 0, scores = 0, weighed = 0, few_rows = 0, even = 0, large = 0;
    for (const RandomCase& r : *all) {
        const vkgemm::Problem& p = r.c.problem;
        const auto is_head = [](uint64_t size) { return size == 64 || size == 80 || size == 96 || size == 128; };
        CHECK((flops(r.c) >= 1e7 && flops(r.c) <= 1e12));
        CHECK(p.a.layout == vkgemm::rowMajor);
        layers += p.batch <= 1 && p.m >= 512 && p.m < 1536;
        const bool scored = p.batch >= 8 && is_head(p.k);
        scores += scored;
        weighed += p.batch >= 8 && is_head(p.n) && !scored;
        few_rows += p.batch <= 1 && p.m <= 64;
        even += p.m % 8 == 0;
        large += flops(r.c) > 2e11;
    }
    CHECK(layers + scores + weighed + few_rows == all->size());
    CHECK((layers > 150 && scores > 50 && weighed > 50 && few_rows > 150));
    CHECK((even < 150 && large > 10));
    CHECK((*all)[0].c.text != drawn(1, 3, "f16,bf16")[0].c.text);
}

TEST_CASE("problems drawn from others: each once, in an order of the seed, a smaller number the first of a larger") {
    std::vector<Case> all;
    for (int i = 1; i <= 30; ++i) all.push_back(*parse_case((i % 2 ? "f16*f16 " : "") + std::to_string(i) + "x8x8"));
    const auto some = drawn_from(all, 5, 7), every = drawn_from(all, 99, 7), other = drawn_from(all, 30, 8);
    REQUIRE(some.size() == 5);
    REQUIRE(every.size() == 30);
    std::set<std::string> texts;
    size_t same = 0;
    for (size_t i = 0; i < every.size(); ++i) {
        if (i < some.size()) CHECK(some[i].c.text == every[i].c.text);
        same += every[i].c.text == other[i].c.text;
        texts.insert(every[i].c.text);
        CHECK(every[i].kind == (every[i].c.problem.m % 2 ? "f16" : "f32"));
    }
    CHECK(texts.size() == 30);
    CHECK(same < 10);
}

TEST_CASE("random problems: an unknown type and too few operations are refused") {
    CHECK(has_words(random_problems(1, 1, "f32,f23", 1e9).status().text, "f23", "--type"));
    CHECK(has_words(random_problems(1, 1, "f32,", 1e9).status().text, "''"));
    CHECK(has_words(random_problems(1, 1, "f32", 1e6).status().text, "--max-flops"));
}

TEST_CASE("a loss is the share of the best rate that is not reached; candidates that failed are not the best") {
    const auto cases = drawn(1, 1, "f32");
    CHECK(regret_of(cases[0], {0.5, 1.0, 0.75}).loss() == doctest::Approx(0.5));
    CHECK(regret_of(cases[0], {1.0, 0.75}).loss() == 0);
    CHECK(regret_of(cases[0], {0, 0.75}).loss() == 0);
    Regret brief = regret_of(cases[0], {0.5, 1.0});
    brief.tried[0].is_final = false;  // was timed in another state of the device
    CHECK(brief.loss() == 0);
    Regret again = regret_of(cases[0], {0.5, 1.0, 0.75});
    again.chosen_again = 1.0;
    again.best_again = 0.6;  // the first time of the best was too small by chance
    CHECK(again.best() == 0);
    CHECK(again.loss() == doctest::Approx(0.4));
    again.best_again = 1.25;
    CHECK(again.loss() == doctest::Approx(-0.25));
    const Losses none = summarise_losses({});
    CHECK((none.problems == 0 && none.worst == 0));
    const Losses two = summarise_losses({0.19, 0});
    CHECK(two.mean == doctest::Approx(0.1));  // 0.9 squared is 0.81
    CHECK(two.worst == 0.19);
    std::vector<double> many(40, 0.01);
    many[3] = 0.5;
    many[7] = 0.3;
    many[11] = 0.2;
    CHECK(summarise_losses(many).worst_twentieth == 0.2);  // two of forty are a twentieth
    CHECK(summarise_losses(many).worst == 0.5);
}

TEST_CASE("the report: by type and of all, the ten worst by name, and every time in the JSON") {
    const auto cases = drawn(24, 1, "f32,f16");
    RegretReport report;
    CHECK(report.summary(false).empty());
    for (size_t i = 0; i < cases.size(); ++i) {
        const double best = 1 - 0.01 * static_cast<double>(i);  // the last loses most
        CHECK(has_words(report.add(regret_of(cases[i], {best, 1, 2}), false), cases[i].c.text));
    }
    Regret again = regret_of(cases[0], {0.5, 1});
    again.chosen_again = 3;
    again.best_again = 2;
    CHECK(has_words(RegretReport().add(again, false), "33.3 %", "3.000 s", "2.000 s"));
    Regret failed{.given = &cases[0], .failure = "out of memory"};
    CHECK(has_words(report.add(failed, false), "out of memory", "-"));
    const std::string text = report.summary(false);
    CHECK(has_words(text, "geometric mean", "worst twentieth", "f32", "f16", "all", "23.0 %", "14.0 %"));
    CHECK(has_words(text, cases[23].c.text, "best simt_f32_0 SPLIT=1,PACK=1", "chosen simt_f32_1"));
    CHECK(text.find(cases[23].c.text) < text.find(cases[14].c.text));
    CHECK(!has_words(text, cases[13].c.text));
    const auto losses = report.losses();
    CHECK(losses["all"]["problems"] == 24);
    CHECK(losses["f16"]["problems"] == 12);
    CHECK(losses["all"]["worst"].get<double>() == doctest::Approx(0.23));
    const auto problems = report.problems();
    REQUIRE(problems.size() == 25);
    CHECK(problems[1]["problem"] == cases[1].c.text);
    CHECK((problems[1]["chosen"] == 1 && problems[1]["best"] == 0 && problems[1]["tried"].size() == 3));
    CHECK(problems[1]["tried"][2]["seconds"] == 2.0);
    CHECK((problems[24]["error"] == "out of memory" && problems[24]["loss"].is_null()));
    const std::string csv = report.csv();
    CHECK(std::ranges::count(csv, '\n') == 1 + 24 * 3);  // none of the problem that failed
    CHECK(has_words(csv, "\"" + cases[1].c.text + "\",f16,simt_f32_1,\"SPLIT=1,PACK=1\",0,1,1,1\n"));
}
