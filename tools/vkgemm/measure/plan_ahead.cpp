// SPDX-License-Identifier: MIT
#include "measure/plan_ahead.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <string_view>

#include "cli/terminal.h"

namespace vkgemm::tool {
namespace {

constexpr size_t most_ahead = 64;  // problems
// Times the least predicted cost: what costs more is left out. Of 900 problems on an H100, 3 had a better one.
constexpr double worth_a_try = 3, worth_a_try_on_cpu = 6;
constexpr size_t varied = 16;  // kernels that are tried with other schedules, too
constexpr auto wait_for = std::chrono::milliseconds(1);

/// Leaves the choice where it is.
void leave_out_hopeless(Regret& regret, bool is_cpu) {
    double least = std::numeric_limits<double>::infinity();
    for (const TimedCandidate& t : regret.tried) least = std::min(least, t.candidate.cost);
    const double most = least * (is_cpu ? worth_a_try_on_cpu : worth_a_try);
    std::vector<TimedCandidate> kept;
    const size_t choice = regret.chosen;
    for (size_t i = 0; i < regret.tried.size(); ++i) {
        if (i != choice && regret.tried[i].candidate.cost > most) continue;
        if (i == choice) regret.chosen = kept.size();
        kept.push_back(std::move(regret.tried[i]));
    }
    regret.left_out = regret.tried.size() - kept.size();
    regret.tried = std::move(kept);
}

/// All candidates, none of them timed, and which of them is the choice.
Regret list_candidates(const host::Device& device, const RandomCase& given, uint32_t plan_flags) {
    Regret r{.given = &given};
    const PlanOptions options{.flags = plan_flags, .workspaceLimit = workspace_limit};
    const auto choice = chosen_candidate(device.context(), given.c.problem, options);
    if (!choice) {
        r.failure = choice.status().text;
        return r;
    }
    auto all = candidates(device.context(), given.c.problem, options, varied);
    if (!all) {
        r.failure = all.status().text;
        return r;
    }
    for (Candidate& c : *all) r.tried.push_back({std::move(c)});
    const auto same = [&](const TimedCandidate& t) {
        return t.candidate.kernel == choice->kernel && t.candidate.tile == choice->tile;
    };
    r.by_tuned_row = !choice->chosen;
    r.chosen = static_cast<size_t>(std::ranges::find_if(r.tried, same) - r.tried.begin());
    if (r.chosen == r.tried.size()) r.tried.push_back({*choice});
    leave_out_hopeless(r, device.info().kind == VK_PHYSICAL_DEVICE_TYPE_CPU);
    return r;
}

/// The order in which plans are made: those of different kernels first. Schedules of one kernel often share a pipeline,
/// and threads that want the same one would wait for each other.
std::vector<size_t> order_of(const std::vector<TimedCandidate>& tried) {
    std::map<std::string_view, size_t> times;  // that a kernel was met
    std::vector<std::pair<size_t, size_t>> all;
    for (size_t i = 0; i < tried.size(); ++i) all.emplace_back(times[tried[i].candidate.kernel]++, i);
    std::ranges::sort(all);
    std::vector<size_t> out;
    for (const auto& [time, i] : all) out.push_back(i);
    return out;
}

}  // namespace

PlanAhead::PlanAhead(const host::Device& device, const std::vector<RandomCase>& cases, uint32_t plan_flags)
    : device_(device), cases_(cases), plan_flags_(plan_flags), entries_(cases.size()) {
    const bool is_cpu = device.info().kind == VK_PHYSICAL_DEVICE_TYPE_CPU;
    ahead_ = is_cpu ? 0 : most_ahead;
    for (size_t i = std::max(std::thread::hardware_concurrency(), 1u); i > 0; --i)
        threads_.emplace_back([this] { work(); });
}

PlanAhead::~PlanAhead() {
    {
        const std::lock_guard lock(mutex_);
        ended_ = true;
    }
    changed_.notify_all();
    for (std::thread& t : threads_) t.join();
}

/// One step of a problem: its list or one of its plans. False if nothing of it is left to begin.
bool PlanAhead::work_on(Entry& entry, const RandomCase& given, std::unique_lock<std::mutex>& lock) {
    PlannedCandidates& p = entry.planned;
    if (!entry.claimed) {
        entry.claimed = true;
        lock.unlock();
        Regret listed = list_candidates(device_, given, plan_flags_);
        lock.lock();
        p.regret = std::move(listed);
        entry.left = p.regret.failure.empty() ? p.regret.tried.size() : 0;
        p.plans.resize(entry.left);
        entry.order = order_of(p.regret.tried);
        entry.listed = true;
        changed_.notify_all();
        return true;
    }
    if (!entry.listed || entry.next == p.plans.size()) return false;
    const size_t i = entry.order[entry.next++];
    const Candidate& c = p.regret.tried[i].candidate;
    lock.unlock();
    auto plan = create_stoppable(
        device_, given.c,
        {.kernel = c.kernel.c_str(), .tile = c.tile.c_str(), .flags = plan_flags_, .workspaceLimit = workspace_limit});
    lock.lock();
    if (plan) p.plans[i] = *std::move(plan);
    if (--entry.left == 0) changed_.notify_all();
    return true;
}

void PlanAhead::work() {
    std::unique_lock lock(mutex_);
    while (!ended_ && !interrupted()) {
        const size_t end = std::min(cases_.size(), wanted_ + ahead_ + (asked_ || ahead_ ? 1 : 0));
        bool found = false;
        for (size_t i = first_open_; i < end && !found; ++i) {
            found = work_on(entries_[i], cases_[i], lock);
            if (!found && i == first_open_ && entries_[i].listed) ++first_open_;
        }
        if (!found) changed_.wait_for(lock, std::chrono::milliseconds(20));
    }
}

PlannedCandidates PlanAhead::take(size_t index, const std::function<void()>& wait) {
    std::unique_lock lock(mutex_);
    wanted_ = index;
    asked_ = true;
    changed_.notify_all();
    while (!entries_[index].ready() && !interrupted()) {
        lock.unlock();
        wait();
        lock.lock();
        changed_.wait_for(lock, wait_for, [&] { return entries_[index].ready(); });
    }
    asked_ = false;
    if (!entries_[index].ready()) return {.regret = {.given = &cases_[index], .failure = "interrupted"}, .plans = {}};
    return std::move(entries_[index].planned);
}

}  // namespace vkgemm::tool
