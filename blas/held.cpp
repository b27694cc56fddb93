// SPDX-License-Identifier: MIT
// What stays on the devices: operands that are kept, and results that are held.
#include <algorithm>

#include "blas/process.h"

namespace vkgemm::blas {

void write_all_back(Process& p) { flush_results({.engines = p.engines}, place_of(nullptr, UINT64_MAX), true); }

void keep(const void* address, uint64_t bytes) {
    const HoldExceptions held;
    const LockedEngine locked = lock_engine({});
    if (!locked.engine()) return;
    process().keeps = true;
    for (Engine* e : locked.engines) e->keep(address, bytes);
}

bool hold(void* address, uint64_t bytes) {
    const HoldExceptions exceptions;
    const LockedEngine locked = lock_engine({});
    if (!locked.engine() || bytes == 0) return false;
    Process& state = process();
    const std::lock_guard lock(state.held_mutex);
    const Place wanted = place_of(address, bytes);
    for (const auto& [begin, held] : state.held)
        if (overlap(place_of(begin, held.bytes), wanted)) return begin == address && held.bytes == bytes;
    state.held[address] = {.bytes = bytes};
    return state.holds = true;
}

/// What is held of this address, or everything: to the host. False if results were lost.
bool end_hold(const void* address, bool forgets) {
    Process& state = process();
    if (!state.holds) return true;
    const HoldExceptions exceptions;
    const LockedEngine locked{std::unique_lock(state.engine_mutex), state.engines};  // also when no device is left
    std::vector<Place> places;
    {
        const std::lock_guard lock(state.held_mutex);
        for (const auto& [begin, held] : state.held)
            if (!address || begin == address) places.push_back(place_of(begin, held.bytes));
    }
    bool all = true;
    for (const Place& place : places) {
        flush_results({.engines = state.engines}, place, forgets);
        const std::lock_guard lock(state.held_mutex);
        auto& held = state.held[place.address];
        all = all && !std::exchange(held.lost, false);
        if (forgets) state.held.erase(place.address);
    }
    const std::lock_guard lock(state.held_mutex);
    state.holds = !state.held.empty();
    return all;
}
bool flush(const void* address) { return end_hold(address, false); }
bool forget(const void* address) {
    if (!address) return true;
    const bool all = end_hold(address, true);
    if (!process().keeps) return all;
    const HoldExceptions exceptions;
    const LockedEngine locked = lock_engine({});
    for (Engine* e : locked.engines) e->forget(address);
    return all;
}

bool may_be_resident(const Place& c) {
    Process& p = process();
    if (!p.holds || p.suspensions > 0) return false;
    const std::lock_guard lock(p.held_mutex);
    return std::ranges::any_of(p.held, [&](const auto& h) { return contains(place_of(h.first, h.second.bytes), c); });
}
SuspendResidency::SuspendResidency() { ++process().suspensions; }
SuspendResidency::~SuspendResidency() {
    std::atomic<int>& count = process().suspensions;
    for (int now = count; now > 0 && !count.compare_exchange_weak(now, now - 1);) {
    }  // it is 0 in a child that was forked meanwhile
}

bool flush_results(const LockedEngine& locked, const Place& place, bool ends,
                   const std::function<bool(const Origin&, size_t)>& exempt) {
    if (!process().holds) return true;
    const std::vector<Engine*> engines(locked.engines.begin(), locked.engines.end());
    bool all = true;
    for (size_t d = 0; d < engines.size(); ++d) {
        const Engine::Exempt here = [&](const Origin& origin) { return exempt && exempt(origin, d); };
        Engine& engine = *engines[d];
        Status back = engine.write_back(place, here);
        for (int again = 0; again < 2 && !back && !engine.is_broken(); ++again) back = engine.write_back(place, here);
        if (!back) {
            const std::vector<Place> lost = engine.write_back_each(place, here);
            report_lost(lost);
            if (engine.is_broken() && back.code == VKGEMM_ERROR_OUT_OF_MEMORY)
                back = {VKGEMM_ERROR_DEVICE_LOST, VK_SUCCESS, "the device failed"};
            if (engine.is_broken() || !lost.empty()) {
                report_failure(locked, &engine, back);
                all = false;
            }
        }
        if (ends) engine.discard(place, here);
    }
    return all;
}

void report_lost(std::span<const Place> places) {
    if (places.empty()) return;
    Process& state = process();
    {
        const std::lock_guard lock(state.held_mutex);
        for (auto& [begin, held] : state.held)
            for (const Place& place : places)
                if (overlap(place_of(begin, held.bytes), place)) held.lost = true;
    }
    complain("results that stayed on the device could not be fetched: they are NaN, and vkgemm_blas_flush returns 1");
}

bool notes_memory() { return process().keeps || process().holds; }
void note_write(const Place& place) {
    if (!notes_memory() || place.bytes() == 0) return;
    const HoldExceptions held;
    const LockedEngine locked = lock_engine({});
    for (Engine* e : locked.engines) e->wrote(place.address, place.bytes());
    flush_results(locked, place, true);
}
void note_read(const Place& place) {
    if (!process().holds) return;
    const HoldExceptions held;
    flush_results(lock_engine({}), place, false);
}

}  // namespace vkgemm::blas
