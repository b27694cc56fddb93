// SPDX-License-Identifier: MIT
// The fastest kernel and schedule for a problem: candidates are timed in the order of their predicted cost.
#pragma once
#include "measure/measure.h"
#include "measure/tuning_candidates.h"

namespace vkgemm::tool {

struct Tried {
    Candidate candidate;
    double seconds = 0;  // of a run; of finalists the better of two more looks
};

/// What came of a search.
struct Found {
    std::vector<Tried> tried;
    size_t best = 0;        // in `tried`
    size_t there = 0;       // candidates in all
    std::string cut_short;  // why not all that were worth it were tried; "": they were

    const Tried& winner() const { return tried[best]; }
    /// The first candidate, if it is the choice; null: it could not be run.
    const Tried* model() const { return !tried.empty() && tried[0].candidate.chosen ? &tried.front() : nullptr; }
    bool gains() const { return model() && best != 0; }
    double gain() const { return model() ? model()->seconds / winner().seconds : 1; }
};

struct SearchOptions {
    PlanOptions plan{};                                          // of all candidates
    std::function<bool(const Found&)> out_of_time;               // asked as soon as one was timed
    std::function<void(const Candidate&, size_t number)> begin;  // before each, from 1
    /// A candidate that could not run or is wrong; it is left out.
    std::function<void(const Candidate&, const Measurement&)> failed;
};

/// Checks and times `all`, of which the first is the choice. Stops where the rest is predicted to be much slower, and
/// if interrupted(). Refused if the device is lost.
Result<Found> search(CaseRunner& runner, const std::vector<Candidate>& all, const SearchOptions& options);

}  // namespace vkgemm::tool
