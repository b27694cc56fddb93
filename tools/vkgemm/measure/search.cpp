// SPDX-License-Identifier: MIT
#include "measure/search.h"

#include <algorithm>

#include "cli/terminal.h"

namespace vkgemm::tool {
namespace {

constexpr double give_up_ratio = 1.5;        // times the best so far: then a candidate is timed no further
constexpr double max_predicted_ratio = 2.5;  // times the best one's predicted cost: then the rest is not tried
constexpr double retime_ratio = 1.05;        // times the best: then it is timed again
constexpr double tie_ratio = 1.01;           // times the best: then the choice is kept
constexpr size_t most_retimed = 4;

PlanOptions options_for(const Candidate& candidate, PlanOptions options) {
    options.kernel = candidate.kernel.c_str();
    options.tile = candidate.tile.c_str();
    return options;
}

Status try_one(CaseRunner& runner, const Candidate& candidate, const SearchOptions& options, Found& found) {
    Trial trial;
    if (!found.tried.empty()) trial.give_up_above = give_up_ratio * found.winner().seconds;
    const Measurement measured = runner.try_out(options_for(candidate, options.plan), trial);
    if (measured.failure.code == VKGEMM_ERROR_DEVICE_LOST) return measured.failure;
    if (!measured.failure || !measured.wrong.empty()) {
        options.failed(candidate, measured);
    } else if (measured.timed() && !interrupted()) {
        found.tried.push_back({candidate, measured.times.median});
        if (measured.times.median < found.winner().seconds) found.best = found.tried.size() - 1;
    }
    return {};
}

/// The best ones again, and the choice, in turn: what was near may have been luck, and the first candidate met the
/// device as nobody after it.
Status second_look(CaseRunner& runner, const PlanOptions& plan, Found& found) {
    std::vector<Tried*> finalists;
    for (Tried& t : found.tried)
        if (t.seconds <= retime_ratio * found.winner().seconds) finalists.push_back(&t);
    std::ranges::stable_sort(finalists, {}, [](const Tried* t) { return t->seconds; });
    if (finalists.size() > most_retimed) finalists.resize(most_retimed);
    if (found.model() && std::ranges::find(finalists, found.model()) == finalists.end())
        finalists.push_back(&found.tried.front());
    if (finalists.size() < 2) return {};
    for (const bool again : {false, true})
        for (Tried* t : finalists) {
            if (interrupted()) return {};
            const Measurement measured = runner.try_out(options_for(t->candidate, plan), {.check = false});
            if (!measured.failure) return measured.failure;
            if (measured.timed())
                t->seconds = again ? std::min(t->seconds, measured.times.median) : measured.times.median;
        }
    const auto least = std::ranges::min_element(finalists, {}, [](const Tried* t) { return t->seconds; });
    found.best = static_cast<size_t>(*least - found.tried.data());
    return {};
}

}  // namespace

Result<Found> search(CaseRunner& runner, const std::vector<Candidate>& all, const SearchOptions& options) {
    Found found;
    found.there = all.size();
    for (size_t i = 0; i < all.size() && !interrupted(); ++i) {
        if (!found.tried.empty() && all[i].cost > max_predicted_ratio * found.winner().candidate.cost) break;
        if (!found.tried.empty() && options.out_of_time(found)) {
            found.cut_short =
                "its share of the budget ended after " + std::to_string(i) + " of " + std::to_string(all.size());
            break;
        }
        options.begin(all[i], i + 1);
        if (Status s = try_one(runner, all[i], options, found); !s) return s;
    }
    if (found.tried.empty()) return found;
    if (Status s = second_look(runner, options.plan, found); !s) return s;
    if (found.model() && found.model()->seconds <= tie_ratio * found.winner().seconds) found.best = 0;
    return found;
}

}  // namespace vkgemm::tool
