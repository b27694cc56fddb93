// SPDX-License-Identifier: MIT
#include "measure/regret.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "cli/terminal.h"

namespace vkgemm::tool {
namespace {

constexpr double brief = 0.010, longer = 0.015;  // seconds of runs: of a first look, and of each of the last ones
constexpr double give_up_ratio = 1.5;            // times the best so far: then a first look is cut short
constexpr double patience = 3;                   // seconds that first looks may take together
constexpr size_t finalists = 5, rounds = 3;

PlanOptions options_of(const Candidate& c, uint32_t flags) {
    return {.kernel = c.kernel.c_str(), .tile = c.tile.c_str(), .flags = flags, .workspaceLimit = workspace_limit};
}

/// Pipelines stay in the context; compiling them one after the other would take most of the time.
void compile_ahead(const host::Device& device, const Problem& problem, const std::vector<TimedCandidate>& all,
                   uint32_t flags) {
    std::atomic<size_t> next = 0;
    const auto work = [&] {
        for (size_t i; (i = next++) < all.size() && !interrupted();)
            (void)device.context().createPlan(problem, options_of(all[i].candidate, flags));
    };
    std::vector<std::jthread> threads;
    for (size_t i = std::min<size_t>(std::max(std::thread::hardware_concurrency(), 1u), all.size()); i > 0; --i)
        threads.emplace_back(work);
}

/// All candidates, none of them timed, and which of them is the choice.
Result<Regret> list(const host::Device& device, const RandomCase& given, const RegretOptions& options) {
    Regret r{.given = &given};
    const auto choice = chosen_candidate(device.context(), given.c.problem, workspace_limit, options.plan_flags);
    if (!choice) return choice.status();
    auto all = candidates(device.context(), given.c.problem, workspace_limit, options.plan_flags);
    if (!all) return all.status();
    for (Candidate& c : *all) r.tried.push_back({std::move(c)});
    const auto same = [&](const TimedCandidate& t) {
        return t.candidate.kernel == choice->kernel && t.candidate.tile == choice->tile;
    };
    r.by_tuned_row = !choice->chosen;
    r.chosen = static_cast<size_t>(std::ranges::find_if(r.tried, same) - r.tried.begin());
    if (r.chosen == r.tried.size()) r.tried.push_back({*choice});
    return r;
}

}  // namespace

Result<Regret> measure_regret(const host::Device& device, const RandomCase& given, const RegretOptions& options) {
    auto listed = list(device, given, options);
    if (!listed) return Regret{.given = &given, .failure = listed.status().text};
    Regret& r = *listed;
    compile_ahead(device, given.c.problem, r.tried, options.plan_flags);
    CaseRunner runner(device, given.c, {.check = false, .hot = options.hot, .cold = options.cold});
    const auto time = [&](TimedCandidate& t, double seconds, double give_up_above) -> Status {
        const Measurement m = runner.try_out(options_of(t.candidate, options.plan_flags),
                                             {.check = false, .seconds = seconds, .give_up_above = give_up_above});
        const double median = m.timed() && m.failure ? m.times.median : 0;
        t.seconds = !t.is_final || t.seconds == 0 ? median : std::min(t.seconds, median);
        return m.failure.code == VKGEMM_ERROR_DEVICE_LOST ? m.failure : Status{};
    };

    // The choice first: with its time as the limit, slow ones end after a run or two.
    std::vector<TimedCandidate*> order;
    for (TimedCandidate& t : r.tried) order.push_back(&t);
    std::swap(order.front(), order[r.chosen]);
    double best = std::numeric_limits<double>::infinity();
    const auto start = std::chrono::steady_clock::now();
    for (size_t i = 0; i < order.size(); ++i) {
        if (interrupted()) return Regret{.given = &given, .failure = "interrupted"};
        const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
        if (i > finalists && passed.count() > patience) {
            r.left_out = order.size() - i;
            break;
        }
        if (Status s = time(*order[i], brief, give_up_ratio * best); !s) return s;
        if (order[i]->seconds > 0) best = std::min(best, order[i]->seconds);
    }

    TimedCandidate* const choice = order.front();
    if (choice->seconds == 0) return Regret{.given = &given, .failure = "the choice could not be timed"};
    std::erase_if(order, [&](const TimedCandidate* t) { return t->seconds == 0 || t == choice; });
    std::ranges::stable_sort(order, {}, [](const TimedCandidate* t) { return t->seconds; });
    order.resize(std::min(order.size(), finalists));
    order.push_back(choice);
    for (size_t round = 0; round < rounds; ++round)
        for (TimedCandidate* t : order) {
            if (round == 0) t->seconds = 0, t->is_final = true;
            if (Status s = time(*t, longer, std::numeric_limits<double>::infinity()); !s) return s;
            if (interrupted()) return Regret{.given = &given, .failure = "interrupted"};
            if (t->seconds == 0)
                return Regret{.given = &given, .failure = t->candidate.kernel + " could not be timed again"};
        }
    return listed;
}

}  // namespace vkgemm::tool
