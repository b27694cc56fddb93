// SPDX-License-Identifier: MIT
// Fitting the weights of the cost model to measurements.
#include "tools/vkgemm/measure/cost_weights.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace vkgemm::tool;

namespace {

constexpr double cycle = 1e-9;

/// Problems of growing size on which two families take turns at being the faster one. `steps` is how long a step of
/// "slow" really takes, as a multiple of what the model says.
std::vector<FitProblem> problems(size_t count, double steps) {
    std::vector<FitProblem> out;
    for (size_t i = 0; i < count; ++i) {
        const double size = 1000 * std::pow(1.15, static_cast<double>(i % 40));
        const CostParts slow{2000, size, 500, 100, 0}, steady{9000, 0.8 * size, 900, 100, 0};
        const auto sum = [](const CostParts& p) { return p[0] + p[1] + p[2] + p[3] + p[4]; };
        CostParts real = slow;
        real[1] *= steps;
        out.push_back({{"slow", slow, sum(real) * cycle}, {"steady", steady, sum(steady) * cycle}});
    }
    return out;
}

}  // namespace

TEST_CASE("a fit finds the weight of a part that the model has wrong, also for problems that it never saw") {
    const auto all = problems(80, 3);
    const Fit fit = fit_weights(all);
    CHECK(fit.before.mean > 0.05);
    REQUIRE(!fit.weights.empty());
    CHECK(fit.after.mean < fit.before.mean / 4);
    CHECK(fit.crossed.mean < fit.before.mean / 3);
    const double steps = fit.weights.at("slow")[1] / fit.weights.at("steady")[1];
    CHECK_MESSAGE((steps > 1.5 && steps < 6), steps);
    CHECK(losses_with(all, fit.weights).mean == fit.after.mean);
    CHECK(fit_weights(all).weights == fit.weights);  // the same every time
}

TEST_CASE("no weights are better than a model that is right") {
    const Fit fit = fit_weights(problems(40, 1));
    CHECK(fit.weights.empty());
    CHECK(fit.before.mean == 0);
    CHECK(fit_weights({}).weights.empty());
    CHECK(fit_weights({{}, {}}).before.problems == 0);
}

TEST_CASE("what was not timed is left out of a fit") {
    RandomCase given;
    Regret r{.given = &given};
    for (const double seconds : {0.0, 2e-6, 1e-6})
        r.tried.push_back({{.kernel = "simt_f32_64x64x16", .tile = "", .cost = 5, .parts = {1, 2, 3, 4, 5}}, seconds});
    r.tried.push_back({{.kernel = "no_such_kernel", .tile = "", .cost = 5}, 1e-6});
    const FitProblem p = fit_problem(r);
    REQUIRE(p.size() == 2);
    CHECK(p[0].family == "simt");
    CHECK(p[0].parts == CostParts{1, 2, 3, 4, 5});
    CHECK(p[1].seconds == 1e-6);
}

TEST_CASE("weights as the fields of a row") {
    CHECK(weights_text("simt", {1, 0.93, 2.5, 1, 0.1234}) ==
          "simt | launch=1,steps=0.93,results=2.5,memory=1,passes=0.123");
}
