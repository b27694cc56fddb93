// SPDX-License-Identifier: MIT
// How much the choice of a kernel loses against the best that could have been chosen. Pure.
#pragma once
#include "measure/random_problems.h"
#include "measure/tuning_candidates.h"

namespace vkgemm::tool {

/// A kernel with a schedule, on one problem.
struct TimedCandidate {
    Candidate candidate;
    double seconds = 0;            // of a run; 0: it failed
    bool is_final = false;         // timed again, in turn with the other best ones: these times can be compared
    std::vector<double> rounds{};  // medians of the rounds in which it was; `seconds` is theirs
};

/// One problem: what was chosen, and everything that was tried beside it.
struct Regret {
    const RandomCase* given = nullptr;
    std::vector<TimedCandidate> tried{};
    size_t chosen = 0;          // in `tried`
    bool by_tuned_row = false;  // and not by predicted cost
    size_t left_out = 0;        // candidates of the highest predicted cost, which were not tried
    std::string failure{};      // why the loss is not known; "": it is
    // Seconds of the choice and of the best, timed once more when the best was known. The least of many times that
    // scatter is too small; these are not selected by themselves. 0: not timed, as where the choice is the best.
    double chosen_again = 0, best_again = 0;

    size_t best() const;  // the fastest of those that are final
    double chosen_seconds() const { return is_again() ? chosen_again : tried[chosen].seconds; }
    double best_seconds() const { return is_again() ? best_again : tried[best()].seconds; }
    /// The share of the best rate that the choice does not reach: 0.27 for 30 TFLOP/s beside 41. Negative where the
    /// choice was faster than the best when both were timed once more.
    double loss() const { return 1 - best_seconds() / chosen_seconds(); }

   private:
    bool is_again() const { return chosen_again > 0 && best_again > 0; }
};

struct Losses {
    size_t problems = 0;
    double mean = 0;             // of the rates' ratios, geometrically
    double worst_twentieth = 0;  // the least loss that 95 % of the problems do not exceed
    double worst = 0;
};
Losses summarise_losses(std::vector<double> losses);

}  // namespace vkgemm::tool
