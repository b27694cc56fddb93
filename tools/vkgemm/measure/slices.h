// SPDX-License-Identifier: MIT
// Long runs in slices, so that Ctrl-C need not wait until a product ends.
#pragma once
#include <algorithm>
#include <chrono>
#include <functional>

#include "measure/cases.h"
#include "vkgemm/host.hpp"

namespace vkgemm::tool {

/// A plan, and whether its runs are submitted in slices.
struct SlicedPlan {
    Plan plan;
    bool sliced = false;
};

/// The plan with these options. If the library estimates that a dispatch of it takes seconds, the same kernel divided
/// into more dispatches. Native kernels cannot be divided.
Result<SlicedPlan> create_stoppable(const host::Device& device, const Case& c, const PlanOptions& options);

/// Called between slices with the share of the run that is done, from 0 to 1.
using SliceDone = std::function<void(double)>;

/// Times `runs` runs as host::Device::time() does, each in several submissions of about a quarter of a second. Ends
/// early, with the runs that are complete, if interrupted(). `next` returns the operands of each run.
Result<host::Times> time_slices(const host::Device& device, const Plan& plan, size_t runs,
                                const std::function<Run()>& next, std::chrono::nanoseconds patience,
                                const SliceDone& done);

inline constexpr double slice_seconds = 0.25;  // of a submission

/// How many dispatches the next slice has, after one of so many took `seconds`.
inline uint32_t next_slice(uint32_t dispatches, double seconds) {
    const double most = 4.0 * dispatches;  // one that was fast by chance does not make the next one long
    const double fits = seconds > 0 ? dispatches * (slice_seconds / seconds) : most;
    return static_cast<uint32_t>(std::clamp(std::min(fits, most), 1.0, 4096.0));
}

}  // namespace vkgemm::tool
