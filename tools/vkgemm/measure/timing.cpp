// SPDX-License-Identifier: MIT
#include "measure/timing.h"

#include <algorithm>

#include "cli/terminal.h"
#include "vkgemm/rounding.hpp"

namespace vkgemm::tool {

Status Timing::warm_up() {
    const auto start = SteadyClock::now();
    double seconds = 0;  // of one run, as far as is known
    size_t rounds = 0;   // the first may be slow, also on a warm device
    do {
        const auto times = run_(together_);
        if (!times) return times.status();
        seconds = summarise(times->seconds).median;
        together_ = runs_per_submission(seconds);
    } while (!interrupted() && (++rounds < 3 || since(start) < warm_up_));
    wanted_ = runs_for(seconds, options_.min_time, options_.repeats);
    return {};
}

Status Timing::part() {
    constexpr size_t parts = 4;
    const auto phase = [&](const std::string& text) {
        if (options_.phase) options_.phase(text);
    };
    if (wanted_ == 0) phase("warms up");
    if (wanted_ == 0)
        if (Status s = warm_up(); !s) return s;
    phase("times runs, " + std::to_string(result_.samples.size()) + " of " + std::to_string(wanted_) + " done");
    std::vector<double>& samples = result_.samples;
    const size_t until = std::min(wanted_, samples.size() + divUp(wanted_, parts));
    while (samples.size() < until && !interrupted()) {
        const auto times = run_(std::min(together_, until - samples.size()));
        if (!times) return times.status();
        samples.insert(samples.end(), times->seconds.begin(), times->seconds.end());
        result_.clock = times->clock;
    }
    result_.times = summarise(samples);
    result_.drift = drift_of(samples);
    result_.scatter = scatter_of(samples);
    return {};
}

Status Timing::rest(const std::function<void()>& between) {
    while (!done() && !interrupted()) {
        if (Status s = part(); !s) return s;
        if (between && !done()) between();
    }
    return {};
}

Status time_in_a_row(Measurement& result, const std::function<Result<double>(size_t runs)>& run) {
    if (result.sets < 2 || !result.timed() || interrupted()) return {};
    const size_t runs = runs_in(0.05, result.times.median, 4, 1000);
    std::vector<double> seconds;
    for (int i = 0; i < 3; ++i) {
        const auto all = run(runs);
        if (!all) return all.status();
        seconds.push_back(*all / static_cast<double>(runs));
    }
    result.in_a_row = summarise(seconds).median;
    return {};
}

Status noted(const Status& in_a_row, Measurement& result) {
    if (in_a_row) return {};
    if (in_a_row.code == VKGEMM_ERROR_DEVICE_LOST) {
        result.samples.clear();
        return in_a_row;
    }
    result.note = "not timed in a row: " + in_a_row.text;
    return {};
}

}  // namespace vkgemm::tool
