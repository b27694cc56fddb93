// SPDX-License-Identifier: MIT
// One call, tile by tile, on one device or several.
#pragma once
#include <chrono>
#include <exception>
#include <optional>
#include <thread>
#include <vector>

#include "blas/tiles.h"
#include "vkgemm/rounding.hpp"

namespace vkgemm::blas {

using Clock = std::chrono::steady_clock;
inline double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// How many of the devices compute this call: with VKGEMM_BLAS=auto those that are predicted to gain, else all that
/// have a tile. `resident`: C does.
template <class T>
size_t devices_for(const Gemm<T>& g, TileSize size, size_t devices, bool resident) {
    const Measured& measured = measured_rates(type_of<T>);
    if (devices > 1 && predicts(settings()) && measured.done) {  // B is sent to each where C's rows are dealt
        const double rows = static_cast<double>(g.m >= g.n ? g.n : g.m), depth = static_cast<double>(g.k);
        devices = devices_worth(measured.rates, cost_of(g, size.side, resident), rows * depth * sizeof(T), devices);
    }
    const int64_t rows = std::max<int64_t>(1, size.side / real_rows<T>);
    const int64_t tiles = divUp(g.m, rows) * divUp(g.n, size.side);
    return std::min(devices, static_cast<size_t>(tiles));
}

/// Runs the tiles on these devices. Statuses of all of them.
template <class T>
std::vector<Status> run_tiles(Tiles<T>& tiles, std::span<Engine* const> engines) {
    std::vector<Status> done(engines.size());
    std::vector<std::thread> others;
    others.reserve(engines.size());
    for (size_t d = 1; d < engines.size(); ++d) try {
            others.emplace_back([&, d] {
                const EngineMutex::Shared inside;
                done[d] = tiles.run(*engines[d], d);
            });
        } catch (const std::system_error&) {
            // no thread: the other devices take its tiles, or, if C stays, the CPU BLAS computes them
        }
    done[0] = tiles.run(*engines[0], 0);
    for (std::thread& t : others) t.join();
    return done;
}

/// Computes what it can of the call on the device, the rest by `next(part)`, or returns false and has done nothing. C
/// is changed once everywhere. `seconds`: how long it took, without what it took to make plans and memory; unchanged
/// if C stays on the device.
template <class T, class Next>
bool multiply_tiles(const Gemm<T>& g, TileSize size, const Next& next, double& seconds) {
    std::optional<Tiles<T>> tiles;
    try {
        const LockedEngine locked = lock_engine(type_of<T>);
        if (!locked.engine()) return false;
        const bool resident = may_be_resident(place_of_c(g));
        const auto used = locked.engines.first(devices_for(g, size, locked.engines.size(), resident));
        const std::vector<Engine*> engines(used.begin(), used.end());
        const auto created = [&] {
            uint64_t sum = 0;
            for (const Engine* e : engines) sum += e->created();
            return sum;
        };
        const uint64_t before = created();
        const auto start = Clock::now();
        const bool traced = settings().log == LogLevel::calls;
        for (Engine* e : locked.engines) e->reset_spent(traced);
        uint64_t memory = UINT64_MAX;
        for (const Engine* e : engines) memory = std::min(memory, e->memory());
        tiles.emplace(g, size, engines.size(), resident, memory);
        if (!flush_results(locked, place_of_a(g), false) || !flush_results(locked, place_of_b(g), false)) {
            tiles.reset();
            return false;
        }
        const auto here = [&](const Origin& d, size_t device) {
            return resident && device < engines.size() && tiles->is_here(d, device);
        };
        if (!flush_results(locked, place_of_c(g), true, here)) {
            tiles.reset();
            return false;
        }
        for (Engine* e : locked.engines) e->wrote(g.c, extent<T>(g.m, g.n, g.ldc));
        const std::vector<Status> done = run_tiles(*tiles, engines);
        if (!resident) {
            seconds = created() == before ? seconds_since(start) : 0;
            if (seconds == 0)
                for (const Engine* e : engines) seconds = std::max(seconds, working_seconds(e->spent()));
        }
        keep_pipelines(locked);
        if (traced)
            for (const Engine* e : engines) log_spent(e->spent(), seconds_since(start));
        for (size_t d = 0; d < done.size(); ++d)
            if (!done[d]) report_failure(locked, engines[d], done[d]);
        for (const auto& places : tiles->lost()) report_lost(places);
    } catch (...) {  // no memory for the tiles, or for a message
        if (!tiles) return false;
    }
    counts().failed_tiles += tiles->rest(next);
    return true;
}

/// Whether the devices have all kernels of the call. Those that they lack are compiled in the background.
template <class T>
bool is_compiled(const Gemm<T>& g, TileSize size, bool resident) noexcept try {
    const LockedEngine locked = lock_engine(type_of<T>);
    const Tiles<T> tiles(g, size, 1);
    bool all = true;
    for (Engine* e : locked.engines.first(devices_for(g, size, locked.engines.size(), resident)))
        all = tiles.is_compiled(*e) && all;
    return all;
} catch (...) {  // no memory: the call finds that out
    return true;
}

/// Whether products of this type can be tried on the device. Opens it.
inline bool can_try(Type type) noexcept {
    if (const Support known = support_of(type); known != Support::unknown) return known == Support::yes && is_usable();
    try {
        const LockedEngine locked = lock_engine(type);
        if (!locked.engine()) return false;
        Status checked;
        for (const Engine* e : locked.engines)
            if (checked) checked = e->check(type);
        set_support(type, checked ? Support::yes : Support::no, checked);
        return bool(checked);
    } catch (...) {  // no memory
    }
    return false;
}

}  // namespace vkgemm::blas
