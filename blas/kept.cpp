// SPDX-License-Identifier: MIT
// What is kept in files for later processes: the device's rates, and its pipelines.
#include <algorithm>
#include <thread>

#include "blas/background.h"
#include "blas/process.h"

namespace vkgemm::blas {

std::string key_of(const host::DeviceInfo& info) {
    std::string key = std::to_string(VKGEMM_VERSION) + " " + std::to_string(info.vendorId) + " " +
                      std::to_string(info.deviceId) + " " + std::to_string(info.apiVersion) + " " + info.name + ", " +
                      info.driver;
    std::ranges::replace(key, '\n', ' ');
    return key;
}

namespace {

std::string kind_of_rates(Type type) { return type == f64 ? "rates_f64" : "rates_f32"; }
std::string key_of_rates(const host::DeviceInfo& info, const Settings& s) {
    return key_of(info) + ", tile " + std::to_string(s.tile) + ", threads " +
           std::to_string(std::thread::hardware_concurrency()) + ", accuracy " + std::to_string(s.accuracies.of_f32) +
           " " + (s.accuracies.of_f64 ? std::to_string(*s.accuracies.of_f64) : "auto");
}

}  // namespace

std::optional<Rates> kept_rates(const LockedEngine& locked, Type type) {
    const Settings& s = settings();
    return rates_in(Cache(s.cache).read(kind_of_rates(type), key_of_rates(locked.engine()->info(), s)));
}
void keep_rates(const LockedEngine& locked, Type type, const Rates& rates) {
    const Settings& s = settings();
    const std::string text = text_of(rates);
    Cache(s.cache).write(kind_of_rates(type), key_of_rates(locked.engine()->info(), s), std::as_bytes(std::span(text)));
}
void keep_pipelines(const LockedEngine& locked) noexcept try {
    Process& state = process();
    if (!locked.engine() || state.settings.cache.empty() || locked.engine()->compiled() == state.kept_plans) return;
    state.kept_plans = locked.engine()->compiled();
    const auto keep = [&state, engine = locked.engine()] {
        try {
            const auto data = engine->device().pipelineCacheData();
            if (!data || data->size() == state.kept_bytes) return;
            state.kept_bytes = data->size();
            Cache(state.settings.cache).write("pipelines", key_of(engine->info()), *data);
        } catch (...) {  // no memory
        }
    };
    if (predicts(state.settings))
        background().add(keep, true);
    else
        keep();
} catch (...) {  // no memory
}

}  // namespace vkgemm::blas
