// SPDX-License-Identifier: MIT
// How the devices are opened, and given up.
#include <pthread.h>

#include <algorithm>
#include <chrono>

#include "blas/devices.h"
#include "blas/process.h"

namespace vkgemm::blas {
namespace {

/// Appends the devices of the settings to `engines`. `native`: native kernels may be used.
Status open_engines(const Settings& s, bool native, std::vector<Engine*>& engines) {
    host::DeviceOptions options{.transferQueues = true};
    if (!native) options.nativeKernels = VKGEMM_NATIVE_OFF;
    std::vector<uint32_t> chosen;
    options.choose = [&](std::span<const host::DeviceInfo> devices) -> Result<uint32_t> {
        auto all = choose_devices(devices, s);
        if (!all) return all.status();
        chosen = *std::move(all);
        return chosen[std::min(engines.size(), chosen.size() - 1)];
    };
    options.accepts = [&s](const host::DeviceInfo& info) -> Status {
        if (is_worth_opening(s, info.kind)) return {};
        return {VKGEMM_ERROR_UNSUPPORTED, VK_SUCCESS,
                info.name + " computes on the CPU; VKGEMM_BLAS=always or its name in VKGEMM_BLAS_DEVICE uses it"};
    };
    if (!s.cache.empty())
        options.pipelineCache = [&s](const host::DeviceInfo& info) {
            return Cache(s.cache).read("pipelines", key_of(info));
        };
    EngineOptions use{.memory_share = s.memory_share, .budget = s.budget, .accuracies = s.accuracies};
    use.piece = std::min(use.piece, static_cast<uint64_t>(s.tile * s.tile) * sizeof(float));  // for tests
    do {
        auto engine = Engine::open(options, use);
        if (!engine) return engine.status();
        engines.push_back(engine->release());
        engines.back()->workers().share_with(chosen.size());
    } while (engines.size() < chosen.size());
    return {};
}

// A missing device is worth a line only if the user asked for one.
void report_no_device(Process& p, const Status& why) {
    if (p.settings.mode == Mode::always || !p.settings.devices.empty() || p.settings.log != LogLevel::failures)
        complain("no device: " + why.text);
}

Status open_timed(Process& state, bool native, std::vector<Engine*>& engines) {
    const auto start = std::chrono::steady_clock::now();
    Status done = open_engines(state.settings, native, engines);
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    if (!engines.empty() && state.settings.log == LogLevel::calls)
        complain("the device was opened in " + std::to_string(passed.count() * 1e3) + " ms");
    return done;
}

/// f32 has native kernels only where it is computed from parts. They take an extension that must be enabled when the
/// device is opened, and makes that take longer: 0.34 s instead of 0.19 on an NVIDIA H200.
bool uses_native(const Settings& s, Type type) {
    return s.native && (type == f64 || s.accuracies.of_f32 != VKGEMM_ACCURACY_DEFAULT);
}

/// Opens the devices again with native kernels, if any has them. The old ones stay open without memory.
void open_again(Process& state) {
    state.native = true;
    if (std::ranges::none_of(state.engines, [](const Engine* e) { return e->has_native_kernels(); })) return;
    std::vector<Engine*> fresh;
    if (!open_timed(state, true, fresh) || fresh.size() != state.engines.size())
        return;  // those that are open do it, too
    write_all_back(state);
    if (state.engines.size() != fresh.size()) return;  // one failed
    for (size_t i = 0; i < fresh.size(); ++i) fresh[i]->take_over(*state.engines[i]);
    state.engines = fresh;
    state.kept_plans = 0;
    state.kept_bytes = 0;
}

}  // namespace

LockedEngine lock_engine(std::optional<Type> type) {
    Process& state = process();
    if (state.unusable) return {};
    LockedEngine locked{.lock = std::unique_lock(state.engine_mutex)};
    const bool native = type && uses_native(state.settings, *type);
    if (!state.tried) {
        state.tried = true;
        state.native = native;
        static const int registered = pthread_atfork(before_fork, in_parent, in_child);
        state.opened = true;
        const Status done = registered == 0 ? open_timed(state, native, state.engines)
                                            : Status{VKGEMM_ERROR_OUT_OF_MEMORY, VK_SUCCESS, "pthread_atfork failed"};
        state.devices = state.engines.size();
        if (!done) report_no_device(state, done);
        if (!state.engines.empty()) {
            const std::lock_guard lock(state.text_mutex);
            state.device.clear();
            for (const Engine* e : state.engines)
                state.device += (state.device.empty() ? "" : " and ") + e->info().name;
        } else {
            state.unusable = true;
        }
    } else if (native && !state.native && !state.unusable) {
        open_again(state);
    }
    if (!state.unusable) locked.engines = state.engines;
    return locked;
}

void report_failure(const LockedEngine&, Engine* engine, const Status& status) {
    Process& state = process();
    const bool usable = status.code == VKGEMM_ERROR_OUT_OF_MEMORY;
    if (!usable) {
        report_lost(engine->invalidate(place_of(nullptr, UINT64_MAX)));
        std::erase(state.engines, engine);
        state.devices = state.engines.size();
        if (state.engines.empty()) state.unusable = true;
    }
    const char* const by = usable                  ? "the CPU BLAS computes this tile"
                           : state.engines.empty() ? "the CPU BLAS computes from now on"
                                                   : "the other devices compute from now on";
    if (!state.complained.exchange(true))
        complain(status.text + "; " + by + "; further failures are counted (VKGEMM_BLAS_LOG=summary)");
}

}  // namespace vkgemm::blas
