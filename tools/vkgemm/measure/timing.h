// SPDX-License-Identifier: MIT
// What was measured of a case, and the timing of whatever runs it.
#pragma once
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "measure/stats.h"
#include "vkgemm/host.hpp"

namespace vkgemm::tool {

inline constexpr double warm_up_seconds = 0.4;  // of load; clocks take that long to rise

using SteadyClock = std::chrono::steady_clock;
inline double since(SteadyClock::time_point start) {
    return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

struct MeasureOptions {
    bool check = true, timing = true;
    bool hot = false, cold = false;  // neither: cold on GPUs where 256 MB are to spare
    double min_time = 0;             // seconds of timed runs, and
    size_t repeats = 0;              // number of timed runs; 0: as runs_for() decides
    uint64_t seed = 0;               // of the operands of a check
    std::string inject_fault{};      // for tests: a kernel whose results are changed before they are compared
    /// Called with what is done now: "checks", "times run 3 of 20". May be empty.
    std::function<void(const std::string&)> phase{};
};

struct Measurement {
    Status failure;     // why there are no times
    std::string wrong;  // the first wrong element; then nothing is timed
    std::string kernel, tile;
    std::string checked = "no";   // or the extent of the check
    std::vector<double> samples;  // seconds
    Summary times;
    host::Clock clock = host::Clock::host;
    double in_a_row = 0;  // seconds of a run among others that do not wait for it; 0: not measured
    double flops = 0, bytes = 0;
    double deviation = -1;  // as deviation_of() has it; below 0: not known
    double drift = 0;       // of the samples, as drift_of() has it
    double scatter = 0;     // of the samples, as scatter_of() has it
    double others = -1;     // the share of the processors that other processes used meanwhile; below 0: not known
    std::string note;       // further remarks
    bool cold = false;
    size_t sets = 1;              // of operands that were used in turn
    uint64_t workspaceBytes = 0;  // that the plan asked for

    double flops_per_second() const { return times.median > 0 ? flops / times.median : 0; }
    double flops_per_second_in_a_row() const { return in_a_row > 0 ? flops / in_a_row : 0; }
    bool timed() const { return !samples.empty(); }
};

/// What is timed in turns with a kernel. Either may be empty.
struct Alternating {
    std::function<void()> begin;  // before the kernel warms the device up
    std::function<void()> part;   // between parts of the kernel's timing
};

/// Runs something repeatedly and puts its samples into `result`: first until the device is warm, then in parts, so that
/// two libraries can be interleaved and drift affects both. Ends early if interrupted().
class Timing {
   public:
    using RunMany = std::function<Result<host::Times>(size_t runs)>;
    Timing(const MeasureOptions& options, Measurement& result, RunMany run)
        : options_(options), result_(result), run_(std::move(run)) {}

    Status part();
    Status rest(const std::function<void()>& between = {});  // all parts that are left; `between` before each but one
    /// For a device that others have just kept busy, so that its clocks are up.
    void warm_up_for(double seconds) { warm_up_ = seconds; }
    bool done() const { return wanted_ && result_.samples.size() >= wanted_; }

   private:
    Status warm_up();

    const MeasureOptions& options_;
    Measurement& result_;
    RunMany run_;
    double warm_up_ = warm_up_seconds;
    size_t together_ = 1, wanted_ = 0;  // runs: of a submission, and in all; wanted_ 0: it is still cold
};

/// Times runs that do not wait for one another, for about 50 ms: independent products of a network, or kernels in a
/// CUDA stream. Only if there are several sets of operands to write to in turn.
Status time_in_a_row(Measurement& result, const std::function<Result<double>(size_t runs)>& run);
/// A failure of that becomes a note beside the samples, unless the device was lost.
Status noted(const Status& in_a_row, Measurement& result);

}  // namespace vkgemm::tool
