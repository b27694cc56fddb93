// SPDX-License-Identifier: MIT
// Trains networks, so that what the cost model chooses with their factors takes little longer than the best.
#pragma once
#include "network.h"

namespace vkgemm::fit {

struct Options {
    size_t teachers = 5;
    size_t teacher_epochs = 80, epochs = 140;  // of the teachers, and of the network that learns from them
    unsigned seed = 1;
    bool known = false;  // the weights of facts, which shaders' terms are made for
};

/// A network for tables, fitted to `problems`, of which those that were generated take part in the last step alone.
/// First several networks are fitted to the times. Their mean predicts better than each of them; one network learns
/// what they predict, and some of what was measured, while its weights are rounded as in the tables.
Network fit(const Timings&, const std::vector<size_t>& problems, const Options&);

struct Losses {
    size_t problems = 0;
    double mean = 0, worst_twentieth = 0;
};
/// What the choice of the least cost among the timed candidates loses against the fastest.
double loss_of(const TimedProblem&, const Network&);
Losses summary_of(std::vector<double> losses);

}  // namespace vkgemm::fit
