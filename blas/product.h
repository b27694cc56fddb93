// SPDX-License-Identifier: MIT
// One call of gemm: by the device, by the CPU BLAS, or a part by each.
#pragma once
#include "blas/background.h"
#include "blas/measure.h"

namespace vkgemm::blas {

/// The device's rates for products of R, or null. Opens the device and measures it if nobody did.
template <class R>
const Rates* rates_of() noexcept {
    Measured& measured = measured_rates(type_of<R>);
    if (measured.done) return &measured.rates;
    if (!can_try(type_of<R>)) return nullptr;
    try {
        const LockedEngine locked = lock_engine(type_of<R>);
        if (!locked.engine()) return nullptr;
        if (measured.done) return &measured.rates;
        const std::optional<Rates> kept = kept_rates(locked, type_of<R>);
        const auto found = kept ? Result<Rates>(*kept) : measure<R>(*locked.engine(), settings().tile);
        if (found) {
            if (!kept) keep_rates(locked, type_of<R>, *found);
            keep_pipelines(locked);
            measured.rates = *found;
            measured.kept = kept.has_value();
            measured.done = true;
            return &measured.rates;
        }
        static_cast<void>(locked.engine()->finish());
        set_support(type_of<R>, Support::no, found.status());
        report_failure(locked, locked.engine(), found.status());
    } catch (...) {  // no memory
    }
    return nullptr;
}

/// Whether the device is to compute the call: it may, it can, it has the kernels, and it is predicted to end sooner
/// than the CPU BLAS.
/// `predicted`: its seconds, or 0 if nothing was predicted.
template <class T>
bool wants_device(const Gemm<T>& g, double& predicted) {
    const HoldExceptions held;
    const Settings& s = settings();
    predicted = 0;
    if (!has_product(g) || !may_use_device(s, routine_of<T>, g.m, g.n, g.k) || !is_usable()) return false;
    if (!predicts(s)) return can_try(type_of<T>);
    const bool resident = may_be_resident(place_of_c(g));
    const Cost cost = cost_of(g, s.tile, resident);
    Estimates& e = estimates();
    const double rate = e.next_rate(routine_of<T>), next = cost.operations / rate;
    if (rate == 0) return false;
    const Measured& measured = measured_rates(type_of<T>);
    if (!measured.done && !e.is_time_to_open(next)) return false;
    const Rates* rates = measured.done ? &measured.rates : rates_of<Real<T>>();
    if (!rates) return false;
    Rates all = *rates;  // of the devices together; what moves is packed by the same cores
    all.operations *= static_cast<double>(devices_for(g, tile_size(s, g, resident), device_count(), resident));
    predicted = e.device_seconds(routine_of<T>, all, cost);
    const ShapeTimes::Seconds seen = e.shapes().of(shape_key(g, resident));
    if (!e.prefers_device(routine_of<T>, predicted, next, seen)) return false;
    // To compile takes up to half a second, and is not waited for where the CPU BLAS is done sooner.
    return (seen.next > 0 ? seen.next : next) >= Estimates::open_seconds ||
           is_compiled(g, tile_size(s, g, resident), resident);
}

/// Calls `next`, which computes this by the CPU BLAS, and remembers its time, unless kernels are compiled meanwhile:
/// then one of its threads has half a core, and the others wait for it.
template <class T, class Call>
void call_timed(const Gemm<T>& g, const Call& next) {
    const HoldExceptions held;
    const bool disturbed = background().is_busy();
    const auto start = Clock::now();
    next();
    const double seconds = seconds_since(start);
    Estimates& e = estimates();
    if (disturbed || background().is_busy()) return e.spent_by_next(seconds);
    e.saw_next(routine_of<T>, cost_of(g, settings().tile).operations, seconds);
    if (predicts(settings())) e.shapes().saw_next(shape_key(g, may_be_resident(place_of_c(g))), seconds);
}

/// A part of the call that shows the rate of the CPU BLAS, if that is not known and the part is a small one: so many
/// columns. Otherwise 0.
template <class T>
int64_t sample_columns(const Gemm<T>& g) {
    constexpr double sample = 4e9;  // operations: 4 ms at 1 TFLOP/s
    const double all = cost_of(g, settings().tile).operations;
    if (g.n < 512 || all < 8 * sample || !is_usable() || estimates().next_rate(routine_of<T>) > 0) return 0;
    return std::clamp(static_cast<int64_t>(sample / all * static_cast<double>(g.n)), int64_t{64}, g.n / 8);
}

enum class Outcome { small, untouched, device, next };

/// Computes the call, or does nothing (small, untouched). `next(part)` computes a part of it by the CPU BLAS.
template <class T, class Next>
Outcome multiply(const Gemm<T>& g, const Next& next) {
    const Settings& s = settings();
    if (!has_product(g) || !may_use_device(s, routine_of<T>, g.m, g.n, g.k)) return Outcome::small;
    const HoldExceptions held;
    Gemm<T> rest = g;
    const int64_t sample = predicts(s) ? sample_columns(g) : 0;
    if (sample > 0) {
        const Gemm<T> first = part(g, 0, 0, g.m, sample);
        call_timed(first, [&] { next(first); });
        rest = part(g, 0, sample, g.m, g.n - sample);
    }
    double predicted = 0, seconds = 0;
    const bool resident = may_be_resident(place_of_c(rest)), disturbed = background().is_busy();
    if (wants_device(rest, predicted) && multiply_tiles(rest, tile_size(s, rest, resident), next, seconds)) {
        if (predicted > 0 && seconds > 0 && !disturbed && !background().is_busy()) {
            estimates().saw_device(routine_of<T>, predicted, seconds);
            estimates().shapes().saw_device(shape_key(rest, resident), seconds);
        }
        return Outcome::device;
    }
    if (sample == 0) return Outcome::untouched;
    next(rest);
    return Outcome::next;
}

}  // namespace vkgemm::blas
