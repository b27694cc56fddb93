// SPDX-License-Identifier: MIT
// Which calls are worth the device: those that it is predicted to end sooner than the CPU BLAS, from what was measured
// in this process. Pure, but for the numbers that it remembers.
#pragma once
#include <vulkan/vulkan_core.h>

#include <array>
#include <atomic>
#include <cmath>

#include "blas/packing.h"
#include "blas/settings.h"
#include "blas/shape_times.h"

namespace vkgemm::blas {

/// For VKGEMM_BLAS=auto: smaller calls are forwarded without a prediction.
inline constexpr double least_size = 256;

/// The harmonic mean of m, n and k, which are above 0: the size of the cube with as many multiplications per element of
/// A, B and C. A product with one short side moves much for what it computes, and counts as little more than that side.
inline double effective_size(int64_t m, int64_t n, int64_t k) {
    const double x = static_cast<double>(m), y = static_cast<double>(n), z = static_cast<double>(k);
    return 3 * x * y * z / (x * y + y * z + z * x);  // one division: every small call computes this
}

/// False: the CPU BLAS. True: the device if `predicts` is false, otherwise what Estimates says.
inline bool may_use_device(const Settings& s, Routine routine, int64_t m, int64_t n, int64_t k) {
    if (s.mode == Mode::never || s.disabled[static_cast<size_t>(routine)]) return false;
    return effective_size(m, n, k) >= s.min.value_or(s.mode == Mode::always ? 0 : least_size);
}
inline bool predicts(const Settings& s) { return s.mode == Mode::automatic && !s.min; }

/// On a Vulkan driver that computes on the CPU, the CPU BLAS is faster as a rule; such a driver must be asked for.
inline bool is_worth_opening(const Settings& s, VkPhysicalDeviceType kind) {
    return s.mode == Mode::always ||
           (s.mode == Mode::automatic && (kind != VK_PHYSICAL_DEVICE_TYPE_CPU || !s.devices.empty()));
}

/// What a call computes and moves, in operations and bytes. No product hides `first_up` and `last_down`.
struct Cost {
    double operations = 0, up = 0, down = 0, first_up = 0, last_down = 0;
};

/// `resident`: C is on the device before and after the call.
template <class T>
Cost cost_of(const Gemm<T>& g, int64_t tile, bool resident = false) {
    const double m = static_cast<double>(g.m), n = static_cast<double>(g.n), k = static_cast<double>(g.k);
    const double parts = is_complex<T> ? 2 : 1, bytes = sizeof(T), side = static_cast<double>(tile) / parts;
    const double rows = std::min(m, side), columns = std::min(n, parts * side), depth = std::min(k, side);
    return {
        .operations = 2 * m * n * k * parts * parts,
        .up = bytes * (parts * m * k + k * n + (resident || g.beta == T{} ? 0 : m * n)),  // A is stored `parts` times
        .down = resident ? 0 : bytes * m * n,
        .first_up = bytes * depth * (parts * rows + columns),
        .last_down = resident ? 0 : bytes * rows * columns};
}

/// The device's, measured on calls: seconds of any call, bytes/s including what the CPU copies, operations/s.
struct Rates {
    double latency = 0, up = 0, down = 0, operations = 0;  // operations 0: not measured
};

/// The CPU copies in both directions, so those times add up; products hide behind them or they behind products.
inline double seconds_of(const Rates& r, const Cost& c) {
    const double moving = c.up / r.up + c.down / r.down, computing = c.operations / r.operations;
    const double exposed = c.first_up / r.up + c.last_down / r.down;
    return r.latency + std::max(moving, computing + std::min(exposed, moving));
}

/// How many of so many devices compute it soonest. `each`: the bytes of `c.up` that go to each of them. They are packed
/// by the same cores, so where moving takes longest, a further device only adds to it.
inline size_t devices_worth(const Rates& r, const Cost& c, double each, size_t devices) {
    const auto seconds = [&](size_t d) {
        const double count = static_cast<double>(d);
        return std::max(c.operations / (count * r.operations), (c.up + (count - 1) * each) / r.up + c.down / r.down);
    };
    size_t best = 1;
    for (size_t d = 2; d <= devices; ++d)
        if (seconds(d) < seconds(best)) best = d;
    return best;
}

/// What this process has seen. Any thread may use it; a lost update costs a little accuracy.
class Estimates {
   public:
    /// The CPU BLAS took so long for these operations.
    void saw_next(Routine routine, double operations, double seconds) {
        auto& rate = next_[static_cast<size_t>(routine)];
        rate = std::max(0.99 * rate, operations / std::max(seconds, 1e-9));  // slow ones were disturbed
        spent_ = spent_ + seconds;
    }
    /// The device took so long for what was predicted.
    void saw_device(Routine routine, double predicted, double seconds) {
        const double ratio = std::min(4.0, seconds / std::max(predicted, 1e-9));  // one call may be an exception
        auto& bias = bias_[static_cast<size_t>(routine)];
        bias = std::clamp(0.75 * bias + 0.25 * bias * ratio, 0.5, 8.0);
        auto& error = error_[static_cast<size_t>(routine)];
        error = 0.9 * error + 0.1 * std::min(1.0, std::abs(ratio - 1));
    }
    /// Another routine took the CPU BLAS so long, which does not measure its rate.
    void spent_by_next(double seconds) { spent_ = spent_ + seconds; }
    /// As saw_device, of a factorization.
    void saw_lu(double predicted, double seconds) {
        lu_bias_ = std::clamp(lu_bias_ * (0.5 + 0.5 * seconds / std::max(predicted, 1e-9)), 0.25, 8.0);
    }
    double lu_bias() const { return lu_bias_; }
    /// Operations/s; 0: not known.
    double next_rate(Routine routine) const { return next_[static_cast<size_t>(routine)]; }
    double device_seconds(Routine routine, const Rates& rates, const Cost& cost) const {
        return bias_[static_cast<size_t>(routine)] * seconds_of(rates, cost);
    }
    /// To open the device costs about open_seconds, and nobody knows what a program will call next. So it is opened
    /// when this much was spent without it: then no program takes much longer than twice its time without the device.
    bool is_time_to_open(double next_seconds) const { return spent_ + next_seconds >= open_seconds; }
    ShapeTimes& shapes() { return shapes_; }
    /// Seconds of the call on the device and by the CPU BLAS, as predicted and as calls of its shape were seen. The
    /// CPU BLAS gets it if the gain is within the uncertainty: of a time, or of a prediction by as much as predictions
    /// failed lately. Where both are close, every 16th call goes there too, because its time would not be seen any more
    /// otherwise; they also count as close by what is predicted, until four calls were seen, which may all have been
    /// disturbed.
    bool prefers_device(Routine routine, double device, double next, const ShapeTimes::Seconds& seen = {}) {
        double margin = 0.9 / (1 + 2 * error_[static_cast<size_t>(routine)]);
        if (seen.device > 0) {
            device = seen.device;
            margin = 0.95;
        }
        double least = next;
        if (seen.next > 0) {
            next = seen.next;
            least = seen.next_calls < 4 ? std::min(least, next) : next;
        }
        if (device > margin * next) return false;
        return device < 0.5 * least || ++close_ % 16 != 0;
    }

    static constexpr double open_seconds = 0.5;

   private:
    std::array<std::atomic<double>, routine_count> next_{}, bias_{1.0, 1.0, 1.0, 1.0};
    std::array<std::atomic<double>, routine_count> error_{0.1, 0.1, 0.1, 0.1};  // of predictions, relative
    std::atomic<double> spent_ = 0, lu_bias_ = 1;
    std::atomic<uint32_t> close_ = 0;
    ShapeTimes shapes_;
};

}  // namespace vkgemm::blas
