// SPDX-License-Identifier: MIT
#include "measure/slices.h"

#include <algorithm>

#include "cli/terminal.h"
#include "measure/kernel_lookup.h"

namespace vkgemm::tool {
namespace {

// Of a dispatch, by the library's estimate, which is ten times too high and more on most devices.
constexpr double estimated_seconds = 2;
// Operations, from which a run may take a second on a GPU, or on a CPU.
constexpr double long_on_gpu = 2e13, long_on_cpu = 5e8;

}  // namespace

Result<SlicedPlan> create_stoppable(const host::Device& device, const Case& c, const PlanOptions& options) {
    auto plan = device.context().createPlan(c.problem, options);
    if (!plan) return plan.status();
    SlicedPlan whole{*std::move(plan)};
    const bool is_cpu = device.info().kind == VK_PHYSICAL_DEVICE_TYPE_CPU;
    const VkgemmPlanInfo info = whole.plan.info();
    if (flops(c) < (is_cpu ? long_on_cpu : long_on_gpu) || is_native(info.kernel) || options.dispatchSeconds > 0)
        return whole;
    PlanOptions divided = options;
    divided.dispatchSeconds = estimated_seconds;
    auto parts = device.context().createPlan(c.problem, divided);
    if (!parts || parts->info().dispatchCount <= info.dispatchCount) return whole;
    return SlicedPlan{.plan = *std::move(parts), .sliced = true};
}

Result<host::Times> time_slices(const host::Device& device, const Plan& plan, size_t runs,
                                const std::function<Run()>& next, std::chrono::nanoseconds patience,
                                const SliceDone& done) {
    host::Times times;
    uint32_t together = 1;
    for (size_t i = 0; i < runs; ++i) {
        const Run run = next();
        const auto count = plan.countDispatches(run);
        if (!count) return count.status();
        double seconds = 0;
        for (uint32_t first = 0; first < *count;) {
            if (interrupted()) return times;
            done(static_cast<double>(first) / *count);
            const uint32_t now = std::min(together, *count - first);
            const auto slice = device.time(
                1, [&](VkCommandBuffer commands, uint32_t) { return plan.record(commands, run, first, now); },
                patience);
            if (!slice) return slice.status();
            times.clock = slice->clock;
            seconds += slice->seconds.front();
            first += now;
            together = next_slice(now, slice->seconds.front());
        }
        times.seconds.push_back(seconds);
    }
    return times;
}

}  // namespace vkgemm::tool
