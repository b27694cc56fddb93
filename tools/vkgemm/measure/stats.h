// SPDX-License-Identifier: MIT
// Summaries of timings. Pure.
#pragma once
#include <cstddef>
#include <vector>

namespace vkgemm::tool {

struct Summary {
    size_t runs = 0;
    double median = 0, min = 0, max = 0, p5 = 0, p95 = 0;  // seconds
};

/// All zero for no samples. The median of an even count is the mean of the middle two; p95 is the least sample that 95
/// % of the samples do not exceed, and p5 the greatest that 95 % of them reach.
Summary summarise(std::vector<double> seconds);

/// How much longer the last third of runs, in the order of time, took than the first: 0.07 for 7 %. 0 if that cannot be
/// distinguished from their scatter: of few runs or little time, under 5 %, or where their middle halves overlap.
double drift_of(const std::vector<double>& seconds);

/// How far apart the middle half of the runs is, relative to the median: 0.3 for 30 %. 0 if that is under 20 %, or if
/// there are too few runs to tell.
double scatter_of(const std::vector<double>& seconds);

/// How many runs of `seconds` fill `total`, within bounds.
size_t runs_in(double total, double seconds, size_t least, size_t most);

/// How many runs a case is timed with, when one takes about `seconds`: `wanted`, or at least 3 that fill `min_time`.
/// With both 0 as many as fill 0.5 s, at least 20, at most 1000; where a run takes over 0.25 s, as many as fill 5 s, at
/// least 3, at most 20.
size_t runs_for(double seconds, double min_time, size_t wanted);

/// How many runs one submission holds so that it takes about 0.2 s, far from what a driver takes for a hang.
size_t runs_per_submission(double seconds);

}  // namespace vkgemm::tool
