// SPDX-License-Identifier: MIT
#include "measure/regret.h"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "cli/terminal.h"

namespace vkgemm::tool {
namespace {

constexpr double load_before_first = 0.4;  // of load; clocks take that long to rise
constexpr double busy_seconds = 0.001;     // of load, while there is nothing to time
constexpr double seconds_together = 0.05;  // seconds that first looks may take in one submission, as far as is known
constexpr size_t most_submitted = 16;      // candidates in it
constexpr double long_run = 0.002;         // seconds of a run, above which one is enough for a first look
constexpr double worth_a_try = 6;          // times the least predicted cost: what costs more is left out
constexpr double finalist_ratio = 1.5;     // times the best first look
constexpr size_t most_finalists = 16, last_rounds = 3;
constexpr double round_seconds = 0.003;  // of runs of a finalist in a round

std::chrono::seconds patience_of(bool is_cpu) { return std::chrono::seconds(is_cpu ? 600 : 60); }

double median_of(std::vector<double> list) { return summarise(std::move(list)).median; }

}  // namespace

/// One problem while it is timed.
struct RegretMeter::Look {
    PlannedCandidates& planned;
    PooledOperands operands;
    size_t turn = 0;                             // of the operands
    std::vector<std::vector<double>> seconds{};  // of a run, by candidate: those of the last submission
    std::vector<TimedCandidate>& tried() const { return planned.regret.tried; }
    const Plan& plan(size_t i) const { return *planned.plans[i]; }
};

RegretMeter::RegretMeter(const host::Device& device, const RegretOptions& options)
    : device_(device), options_(options), is_cpu_(device.info().kind == VK_PHYSICAL_DEVICE_TYPE_CPU), pool_(device) {}

/// One submission: `runs` runs of each candidate, and one before them that is not counted, because a kernel's first run
/// finds no instructions in the caches.
Status RegretMeter::look(Look& now, const std::vector<size_t>& order, size_t runs) {
    const size_t each = runs + 1;
    const auto record = [&](VkCommandBuffer commands, uint32_t run) {
        return now.plan(order[run / each]).record(commands, now.operands.run(now.turn++));
    };
    const auto times = device_.time(static_cast<uint32_t>(order.size() * each), record, patience_of(is_cpu_));
    if (!times) return times.status();
    now.seconds.assign(now.tried().size(), {});
    for (size_t i = 0; i < order.size(); ++i) {
        const auto begin = times->seconds.begin() + static_cast<std::ptrdiff_t>(i * each);
        now.seconds[order[i]].assign(begin + 1, begin + static_cast<std::ptrdiff_t>(each));
    }
    return {};
}

/// Every candidate whose predicted cost leaves hope, the choice first, because its time tells how many fit in one
/// submission.
Status RegretMeter::first_looks(Look& now) {
    std::vector<TimedCandidate>& tried = now.tried();
    std::vector<size_t> order;
    double least = std::numeric_limits<double>::infinity();
    for (const TimedCandidate& t : tried) least = std::min(least, t.candidate.cost);
    for (size_t i = 0; i < tried.size(); ++i)
        if (now.planned.plans[i] && (tried[i].candidate.cost <= worth_a_try * least || i == now.planned.regret.chosen))
            order.push_back(i);
    now.planned.regret.left_out = tried.size() - order.size();
    std::ranges::stable_sort(order, {},
                             [&](size_t i) { return i == now.planned.regret.chosen ? 0 : tried[i].candidate.cost; });
    double slowest = 0;  // seconds of a run, of what ran so far
    for (size_t at = 0; at < order.size() && !interrupted();) {
        const size_t runs = slowest > long_run ? 1 : 2;
        const double one = slowest * static_cast<double>(runs + 1);
        const size_t fit = at == 0   ? 1
                           : one > 0 ? static_cast<size_t>(std::max(1.0, seconds_together / one))
                                     : most_submitted;
        const size_t end = std::min(order.size(), at + std::min(fit, most_submitted));
        const std::vector<size_t> some(order.begin() + static_cast<std::ptrdiff_t>(at),
                                       order.begin() + static_cast<std::ptrdiff_t>(end));
        if (Status s = look(now, some, runs); !s) return s;
        for (const size_t i : some) {
            tried[i].seconds = median_of(now.seconds[i]);
            slowest = std::max(slowest, tried[i].seconds);
        }
        at = end;
    }
    return {};
}

/// The best ones and the choice again, in turn.
Status RegretMeter::last_looks(Look& now) {
    std::vector<TimedCandidate>& tried = now.tried();
    const size_t choice = now.planned.regret.chosen;
    std::vector<size_t> finalists;
    double best = std::numeric_limits<double>::infinity();
    for (const TimedCandidate& t : tried)
        if (t.seconds > 0) best = std::min(best, t.seconds);
    for (size_t i = 0; i < tried.size(); ++i)
        if (i != choice && tried[i].seconds > 0 && tried[i].seconds <= finalist_ratio * best) finalists.push_back(i);
    std::ranges::stable_sort(finalists, {}, [&](size_t i) { return tried[i].seconds; });
    if (finalists.size() > most_finalists) finalists.resize(most_finalists);
    finalists.push_back(choice);
    const size_t runs = runs_in(round_seconds, best, 2, 12);
    for (size_t round = 0; round < last_rounds; ++round) {
        if (Status s = look(now, finalists, runs); !s) return s;
        if (interrupted()) return {};
        for (const size_t i : finalists) {
            const double seconds = median_of(now.seconds[i]);
            tried[i].seconds = round == 0 ? seconds : std::min(tried[i].seconds, seconds);
            tried[i].is_final = true;
        }
    }
    return {};
}

Result<Regret> RegretMeter::measure(PlannedCandidates planned) {
    if (!planned.regret.failure.empty()) return std::move(planned.regret);
    const Case& c = planned.regret.given->c;
    const auto fails = [&](std::string why) {
        return Regret{.given = planned.regret.given, .failure = std::move(why)};
    };
    uint64_t workspace = 0;
    for (const auto& plan : planned.plans)
        if (plan) workspace = std::max(workspace, plan->info().requiredBytes[VKGEMM_SLOT_WORKSPACE]);
    const bool cold = options_.cold || (!options_.hot && !is_cpu_);
    auto operands = pool_.operands(c, cold, workspace);
    if (!operands) return fails(operands.status().text);
    if (!planned.plans[planned.regret.chosen]) return fails("the choice could not be compiled");
    Look now{planned, *std::move(operands)};
    if (!warm_ && !is_cpu_) {
        const auto start = std::chrono::steady_clock::now();
        while (std::chrono::steady_clock::now() - start < std::chrono::duration<double>(load_before_first))
            if (Status s = look(now, {planned.regret.chosen}, 16); !s) return s;
        warm_ = true;
    }
    if (Status s = first_looks(now); !s) return s;
    if (Status s = interrupted() ? Status{} : last_looks(now); !s) return s;
    if (interrupted()) return fails("interrupted");
    if (!(planned.regret.tried[planned.regret.chosen].seconds > 0)) return fails("the device measures no times");
    Regret out = planned.regret;
    busy_operands_ = std::move(now.operands), busy_ = std::move(planned);
    return out;
}

void RegretMeter::keep_busy() {
    if (!busy_ || is_cpu_) return;
    const Plan& plan = *busy_->plans[busy_->regret.chosen];
    const auto runs =
        static_cast<uint32_t>(runs_in(busy_seconds, busy_->regret.tried[busy_->regret.chosen].seconds, 1, 64));
    (void)device_.time(runs, [&](VkCommandBuffer commands, uint32_t run) {
        return plan.record(commands, busy_operands_.run(run));
    });  // if the device is lost, the next problem says so
}

}  // namespace vkgemm::tool
