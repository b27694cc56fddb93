// SPDX-License-Identifier: MIT
// What many timings say, and how many are taken.
#include "tools/vkgemm/measure/stats.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace vkgemm::tool;

TEST_CASE("a summary of samples in any order") {
    const Summary none = summarise({});
    CHECK((none.runs == 0 && none.median == 0 && none.max == 0));
    const Summary one = summarise({3});
    CHECK((one.runs == 1 && one.median == 3 && one.min == 3 && one.max == 3 && one.p95 == 3));
    const Summary odd = summarise({5, 1, 9});
    CHECK((odd.median == 5 && odd.min == 1 && odd.max == 9 && odd.p95 == 9));
    const Summary even = summarise({4, 1, 2, 9});
    CHECK((even.median == 3 && even.p95 == 9));
    std::vector<double> hundred;
    for (int i = 100; i > 0; --i) hundred.push_back(i);
    CHECK((summarise(hundred).p95 == 95 && summarise(hundred).p5 == 6));
    hundred.push_back(101);
    CHECK(summarise(hundred).p95 == 96);  // 95 of 101 are less than 95 %
}

TEST_CASE("the middle half of quiet runs is close together; a noisy machine scatters them") {
    std::vector<double> quiet(40, 1e-3), noisy;
    quiet[3] = 5e-3;  // one that was disturbed says nothing
    for (int i = 0; i < 40; ++i) noisy.push_back(1e-3 * (1 + i % 4 * 0.2));
    CHECK(scatter_of(quiet) == 0);
    CHECK(scatter_of(noisy) == doctest::Approx(0.4 / 1.3));
    CHECK(scatter_of({1, 9, 1, 9}) == 0);  // too few
    CHECK(scatter_of(std::vector<double>(40, 0)) == 0);
}

TEST_CASE("as many runs as fill the time, within bounds") {
    CHECK(runs_for(1e-3, 0, 0) == 500);
    CHECK(runs_for(1e-6, 0, 0) == 1000);
    CHECK(runs_for(0.1, 0, 0) == 20);
    CHECK(runs_for(0.25, 0, 0) == 20);
    CHECK(runs_for(0.3, 0, 0) == 17);
    CHECK(runs_for(100, 0, 0) == 3);
    CHECK(runs_for(100, 0, 7) == 7);
    CHECK(runs_for(0, 0, 0) == 1000);  // too short for the clock
    CHECK(runs_for(std::numeric_limits<double>::quiet_NaN(), 0, 0) == 1000);
    CHECK(runs_for(1e-3, 4, 0) == 4000);  // who says how long gets as many as it takes
    CHECK(runs_for(0.3, 9, 0) == 30);
    CHECK(runs_for(10, 9, 0) == 3);
    CHECK(runs_for(0, 9, 0) == 1'000'000);
    CHECK(runs_for(1e-3, 4, 7) == 7);
    CHECK(runs_per_submission(1e-3) == 200);
    CHECK(runs_per_submission(1e-6) == 256);
    CHECK(runs_per_submission(10) == 1);
    CHECK(runs_per_submission(0) == 256);
}

TEST_CASE("a drift is told where the scatter of the runs does not hide it") {
    const auto runs = [](double from, double to, double scatter) {
        std::vector<double> all;
        for (int i = 0; i < 60; ++i) all.push_back(from + (to - from) * i / 59 + scatter * (i % 7 - 3));
        return all;
    };
    CHECK(drift_of({}) == 0);
    CHECK(drift_of(std::vector<double>(11, 1)) == 0);
    CHECK(drift_of(runs(1, 1, 0)) == 0);
    CHECK(drift_of(runs(1, 1.05, 0)) == 0);  // thirds lie 3 % apart
    CHECK(drift_of(runs(1, 1.3, 0)) == doctest::Approx(0.19).epsilon(0.02));
    CHECK(drift_of(runs(1.3, 1, 0)) == doctest::Approx(-0.16).epsilon(0.02));
    CHECK(drift_of(runs(1, 1.3, 0.2)) == 0);
    CHECK(drift_of(runs(0, 0, 0)) == 0);
    CHECK(drift_of(runs(1e-3, 1.3e-3, 0)) > 0);
    CHECK(drift_of(runs(1e-5, 1.3e-5, 0)) == 0);  // all in less than a millisecond
    std::vector<double> steady = runs(1, 1, 0);
    for (size_t i = 50; i < 56; ++i) steady[i] = 9;  // a few bad ones are no drift
    CHECK(drift_of(steady) == 0);
}
