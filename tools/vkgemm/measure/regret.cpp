// SPDX-License-Identifier: MIT
#include "measure/regret.h"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "cli/terminal.h"

namespace vkgemm::tool {
namespace {

constexpr double load_before_first = 0.4;  // of load; clocks take that long to rise
constexpr double busy_seconds = 0.003;     // of load, while there is nothing to time
constexpr double seconds_together = 0.05;  // seconds that first looks may take in one submission, as far as is known
constexpr size_t most_submitted = 16;      // candidates in it
constexpr double long_run = 0.002;         // seconds of a run, above which one is enough for a first look
constexpr double finalist_ratio = 1.3;     // times the best first look
constexpr size_t most_finalists = 12, first_rounds = 3;
constexpr double contender_ratio = 1.05;  // times the best of the finalists: those that are timed once more
constexpr size_t most_contenders = 6, further_rounds = 4;
constexpr size_t last_rounds = 6;        // of the choice and the best alone
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
    const Plan& plan(size_t i) const { return planned.plans[i]->plan; }
    bool is_sliced(size_t i) const { return planned.plans[i]->sliced; }
};

RegretMeter::RegretMeter(const host::Device& device, const RegretOptions& options)
    : device_(device),
      options_(options),
      is_cpu_(device.info().kind == VK_PHYSICAL_DEVICE_TYPE_CPU),
      pool_(device),
      load_(DeviceLoad::make(device, pool_)) {}

/// `runs` runs of each candidate, and one before them that is not counted, in slices. If interrupted(), some are
/// missing.
Status RegretMeter::look_in_slices(Look& now, const std::vector<size_t>& order, size_t runs) {
    now.seconds.assign(now.tried().size(), {});
    for (const size_t i : order) {
        auto times = time_slices(
            device_, now.plan(i), runs + 1, [&] { return now.operands.run(now.turn++); }, patience_of(is_cpu_),
            [](double) {});
        if (!times || interrupted()) return times.status();
        times->seconds.erase(times->seconds.begin());
        now.seconds[i] = std::move(times->seconds);
    }
    return {};
}

/// One submission: some load, so that the clocks are up; then `runs` runs of each candidate, and one before them that
/// is not counted, because a kernel's first run finds no instructions in the caches. Long runs take several.
Status RegretMeter::look(Look& now, const std::vector<size_t>& order, size_t runs) {
    if (std::ranges::any_of(order, [&](size_t i) { return now.is_sliced(i); })) return look_in_slices(now, order, runs);
    const size_t each = runs + 1;
    const uint32_t before = load_ ? 1 : 0;
    const auto record = [&](VkCommandBuffer commands, uint32_t run) {
        if (run < before) return load_->record(commands, 0);
        return now.plan(order[(run - before) / each]).record(commands, now.operands.run(now.turn++));
    };
    const auto times = device_.time(static_cast<uint32_t>(before + order.size() * each), record, patience_of(is_cpu_));
    if (!times) return times.status();
    now.seconds.assign(now.tried().size(), {});
    for (size_t i = 0; i < order.size(); ++i) {
        const auto begin = times->seconds.begin() + static_cast<std::ptrdiff_t>(before + i * each);
        now.seconds[order[i]].assign(begin + 1, begin + static_cast<std::ptrdiff_t>(each));
    }
    return {};
}

/// Every candidate, the choice first, because its time tells how many fit in one submission.
Status RegretMeter::first_looks(Look& now) {
    std::vector<TimedCandidate>& tried = now.tried();
    std::vector<size_t> order;
    for (size_t i = 0; i < tried.size(); ++i)
        if (now.planned.plans[i]) order.push_back(i);
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
        if (Status s = look(now, some, runs); !s || interrupted()) return s;
        for (const size_t i : some) {
            tried[i].seconds = median_of(now.seconds[i]);
            slowest = std::max(slowest, tried[i].seconds);
        }
        at = end;
    }
    return {};
}

/// Times candidates in turn, in every second round in the opposite order. Their seconds are the median of all rounds
/// that they were in.
Status RegretMeter::rounds(Look& now, const std::vector<size_t>& order, size_t count) {
    std::vector<TimedCandidate>& tried = now.tried();
    const size_t runs = runs_in(round_seconds, tried[order.front()].seconds, 2, 16);
    std::vector<size_t> turn = order;
    for (size_t round = 0; round < count; ++round, std::ranges::reverse(turn)) {
        if (Status s = look(now, turn, runs); !s || interrupted()) return s;
        for (const size_t i : turn) tried[i].rounds.push_back(median_of(now.seconds[i]));
    }
    for (const size_t i : order) {
        tried[i].seconds = median_of(tried[i].rounds);
        tried[i].is_final = true;
    }
    return {};
}

/// The choice and the best alone, whose times so far made it the best.
Status RegretMeter::compare(Look& now) {
    Regret& regret = now.planned.regret;
    std::vector<size_t> pair = {regret.chosen, regret.best()};
    if (pair[0] == pair[1]) return {};
    const size_t runs = runs_in(round_seconds, regret.tried[pair[0]].seconds, 2, 16);
    std::vector<double> chosen, best;
    for (size_t round = 0; round < last_rounds; ++round, std::ranges::reverse(pair)) {
        if (Status s = look(now, pair, runs); !s || interrupted()) return s;
        chosen.push_back(median_of(now.seconds[regret.chosen]));
        best.push_back(median_of(now.seconds[regret.best()]));
    }
    regret.chosen_again = median_of(chosen);
    regret.best_again = median_of(best);
    return {};
}

/// The best ones and the choice again; then those that are hardly behind the best and the choice once more, which finds
/// the best among times that scatter; then it and the choice.
Status RegretMeter::last_looks(Look& now) {
    std::vector<TimedCandidate>& tried = now.tried();
    const size_t choice = now.planned.regret.chosen;
    const auto seconds_of = [&](size_t i) { return tried[i].seconds; };
    // The `most` best within `ratio` of the best, without the choice, and then the choice.
    const auto best_of = [&](double ratio, size_t most, bool only_final) {
        double best = std::numeric_limits<double>::infinity();
        for (const TimedCandidate& t : tried)
            if (t.seconds > 0 && t.is_final == only_final) best = std::min(best, t.seconds);
        std::vector<size_t> out;
        for (size_t i = 0; i < tried.size(); ++i)
            if (i != choice && tried[i].seconds > 0 && tried[i].is_final == only_final &&
                tried[i].seconds <= ratio * best)
                out.push_back(i);
        std::ranges::stable_sort(out, {}, seconds_of);
        if (out.size() > most) out.resize(most);
        out.push_back(choice);
        return out;
    };
    if (Status s = rounds(now, best_of(finalist_ratio, most_finalists, false), first_rounds); !s || interrupted())
        return s;
    if (Status s = rounds(now, best_of(contender_ratio, most_contenders, true), further_rounds); !s || interrupted())
        return s;
    return compare(now);
}

Result<Regret> RegretMeter::measure(PlannedCandidates planned) {
    if (!planned.regret.failure.empty()) return std::move(planned.regret);
    const Case& c = planned.regret.given->c;
    const auto fails = [&](std::string why) {
        return Regret{.given = planned.regret.given, .failure = std::move(why)};
    };
    uint64_t workspace = 0;
    for (const auto& plan : planned.plans)
        if (plan) workspace = std::max(workspace, plan->plan.info().requiredBytes[VKGEMM_SLOT_WORKSPACE]);
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
    keep_busy();
    if (Status s = first_looks(now); !s) return s;
    if (Status s = interrupted() ? Status{} : last_looks(now); !s) return s;
    if (interrupted()) return fails("interrupted");
    if (!(planned.regret.tried[planned.regret.chosen].seconds > 0)) return fails("the device measures no times");
    return std::move(planned.regret);
}

void RegretMeter::keep_busy() {
    if (!load_) return;
    (void)device_.time(load_->runs_in(busy_seconds), [&](VkCommandBuffer commands, uint32_t run) {
        return load_->record(commands, run);
    });  // if the device is lost, the next problem says so
}

}  // namespace vkgemm::tool
