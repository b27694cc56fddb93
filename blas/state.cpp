// SPDX-License-Identifier: MIT
#include "blas/state.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <new>

#include "blas/background.h"
#include "blas/devices.h"

namespace vkgemm::blas {
namespace {

thread_local bool inside_next = false;
thread_local bool forks = false;  // this thread is between before_fork and in_parent, and holds both mutexes

/// Never destroyed: another library's destructor may call BLAS after ours ran, and drivers have threads of their own.
struct Process {
    Settings settings;
    Counts counts;
    EngineMutex engine_mutex;      // of the next five
    std::vector<Engine*> engines;  // never destroyed
    uint64_t kept_plans = 0;       // what `pipelines` holds
    std::atomic<size_t> kept_bytes = 0;
    bool tried = false, native = false;  // native: the engines may use native kernels, or have none
    std::atomic<bool> unusable = false;  // all devices failed, or are not there or not wanted
    std::atomic<size_t> devices = 0;     // engines.size()
    std::atomic<bool> complained = false;
    std::atomic<Support> support_f32 = Support::unknown, support_f64 = Support::unknown;
    Estimates estimates;
    Measured measured_f32, measured_f64;
    std::atomic<bool> keeps = false;  // something is kept
    std::atomic<bool> holds = false;  // `held` is not empty
    std::atomic<int> suspensions = 0;
    std::mutex held_mutex;  // of the next one, locked after engine_mutex
    struct Held {
        uint64_t bytes = 0;
        bool lost = false;  // results were, since it was flushed last
    };
    std::map<const void*, Held> held;
    std::mutex text_mutex;  // of the next two
    std::string device, next_library;
};

Process* create_process();

Process& process() {
    static Process& the = *create_process();
    return the;
}

/// The lock on the engines is held, or nobody else can have it.
void write_all_back(Process& p) { flush_results({.engines = p.engines}, place_of(nullptr, UINT64_MAX), true); }

// A forked child has neither the driver's threads nor a usable queue, and the mutex may be held by a thread that it
// lacks. It keeps the settings, and computes on the CPU or opens the device anew, beside what it has inherited.
// `opened` is set before the device is opened.
std::atomic<bool> opened = false;

/// What stayed on the device goes to the host first, where the child finds it. No other call is under way while the
/// process forks, so that the child finds `held` whole; unless a driver forks inside a call, which cannot wait for it.
/// No exception leaves it, because C calls it.
void before_fork() {
    Process& p = process();
    for (int i = 0; i < 60'000 && p.holds && !p.engine_mutex.is_mine() && !(forks = p.engine_mutex.try_lock()); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (p.holds) try {
            forks ? write_all_back(p) : complain("a forked child lacks results that stay on the device");
        } catch (...) {  // no memory: the child lacks them
        }
    if (forks) p.held_mutex.lock();
    background().before_fork();  // last: a call has the engines when it adds a task
}
void in_parent() {
    Process& p = process();
    background().in_parent();
    if (!std::exchange(forks, false)) return;
    p.held_mutex.unlock();
    p.engine_mutex.unlock();
}

void in_child() {
    Process& p = process();
    background().in_child();
    if (p.holds) {
        new (&p.held_mutex) std::mutex;
        new (&p.held) std::map<const void*, Process::Held>;  // the other one may be half changed
        p.holds = forks = false;
    }
    p.suspensions = 0;  // other threads' calls are not under way here
    p.counts.device_calls = p.counts.next_calls = p.counts.failed_tiles = p.counts.broadcasts = 0;
    if (!opened) return;
    if (!p.settings.reopens) return void(p.unusable = true);
    new (&p.engine_mutex) EngineMutex;
    new (&p.text_mutex) std::mutex;
    p.engines.clear();
    p.devices = 0;
    p.tried = p.native = false;
    p.keeps = false;
}

std::string text_for_summary(const Rates& r) {
    return std::to_string(r.operations * 1e-9) + " GFLOP/s, " + std::to_string(r.up * 1e-9) + " GB/s up, " +
           std::to_string(r.down * 1e-9) + " GB/s down, " + std::to_string(r.latency * 1e6) + " us a call";
}

/// What the files of one device, driver and version are kept for.
std::string key_of(const host::DeviceInfo& info) {
    std::string key = std::to_string(VKGEMM_VERSION) + " " + std::to_string(info.vendorId) + " " +
                      std::to_string(info.deviceId) + " " + std::to_string(info.apiVersion) + " " + info.name + ", " +
                      info.driver;
    std::ranges::replace(key, '\n', ' ');
    return key;
}
std::string kind_of_rates(Type type) { return type == f64 ? "rates_f64" : "rates_f32"; }
std::string key_of_rates(const host::DeviceInfo& info, const Settings& s) {
    return key_of(info) + ", tile " + std::to_string(s.tile) + ", threads " +
           std::to_string(std::thread::hardware_concurrency()) + ", accuracy " + std::to_string(s.accuracy);
}

void print_summary() {
    Process& p = process();
    const std::unique_lock lock(p.text_mutex, std::try_to_lock);
    const uint64_t device = p.counts.device_calls, next = p.counts.next_calls, failed = p.counts.failed_tiles;
    const auto name = [](const std::string& s) { return s.empty() ? std::string("none") : s; };
    complain(std::to_string(device + next) + " calls: " + std::to_string(device) + " on the device (" + name(p.device) +
             "), " + std::to_string(next) + " by the CPU BLAS (" + name(p.next_library) + "); " +
             std::to_string(failed) + " tiles fell back");
    const std::unique_lock engines(p.engine_mutex, std::try_to_lock);
    if (engines && p.engines.size() > 1) {
        std::string line;
        for (const Engine* e : p.engines)
            line +=
                (line.empty() ? "" : ", ") + std::to_string(e->products()) + " products of tiles on " + e->info().name;
        complain(line);
    }
    if (engines && !p.engines.empty()) {
        uint64_t up = 0, down = 0;
        for (const Engine* e : p.engines) {
            up += e->moved_d().up;
            down += e->moved_d().down;
        }
        complain("of C " + std::to_string(up) + " bytes were sent to the device, and " + std::to_string(down) +
                 " came back");
    }
    if (const uint64_t read = p.counts.broadcasts; read > 0)
        complain(std::to_string(read) + " matrices of BLACS were read from the memory of other processes");
    for (const auto& [type, measured] : {std::pair{"f32", &p.measured_f32}, std::pair{"f64", &p.measured_f64}})
        if (measured->done)
            complain(std::string(type) + " of the device" + (measured->kept ? ", kept: " : ": ") +
                     text_for_summary(measured->rates));
    for (size_t i = 0; i < routine_count; ++i)
        if (const double rate = p.estimates.next_rate(static_cast<Routine>(i)); rate > 0)
            complain(std::string(routine_names[i]) + " of the CPU BLAS: " + std::to_string(rate * 1e-9) + " GFLOP/s");
}

Process* create_process() {
    auto* p = new Process;
    std::vector<std::string> complaints;
    std::map<std::string, std::string> config;
    if (const char* file = std::getenv("VKGEMM_BLAS_CONFIG"); file && *file) {
        std::ifstream in(file);
        config = read_config(std::string(std::istreambuf_iterator<char>(in), {}), complaints);
        if (!in.is_open()) complaints.push_back(std::string("VKGEMM_BLAS_CONFIG=") + file + " cannot be read");
    }
    const auto variable = [&](const char* name) -> const char* {
        if (const char* value = std::getenv(name); value && *value) return value;
        const auto found = config.find(name);
        return found == config.end() ? nullptr : found->second.c_str();
    };
    p->settings = read_settings(variable, complaints);
    const char* const native = std::getenv("VKGEMM_NATIVE");
    p->settings.native = !native || std::string_view(native) != "0";
    for (const std::string& text : complaints) complain(text);
    if (p->settings.log != LogLevel::failures) std::atexit(print_summary);
    return p;
}

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
    EngineOptions use{.memory_share = s.memory_share, .budget = s.budget, .accuracy = s.accuracy};
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

Status open_timed(Process& p, bool native, std::vector<Engine*>& engines) {
    const auto start = std::chrono::steady_clock::now();
    Status done = open_engines(p.settings, native, engines);
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    if (!engines.empty() && p.settings.log == LogLevel::calls)
        complain("the device was opened in " + std::to_string(passed.count() * 1e3) + " ms");
    return done;
}

/// f32 has native kernels only where it is computed from parts. They take an extension that must be enabled when the
/// device is opened, and makes that take longer: 0.34 s instead of 0.19 on an NVIDIA H200.
bool uses_native(const Settings& s, Type type) {
    return s.native && (type == f64 || s.accuracy != VKGEMM_ACCURACY_DEFAULT);
}

/// Opens the devices again with native kernels, if any has them. The old ones stay open without memory.
void open_again(Process& p) {
    p.native = true;
    if (std::ranges::none_of(p.engines, [](const Engine* e) { return e->has_native_kernels(); })) return;
    std::vector<Engine*> fresh;
    if (!open_timed(p, true, fresh) || fresh.size() != p.engines.size()) return;  // those that are open do it, too
    write_all_back(p);
    if (p.engines.size() != fresh.size()) return;  // one failed
    for (size_t i = 0; i < fresh.size(); ++i) fresh[i]->take_over(*p.engines[i]);
    p.engines = fresh;
    p.kept_plans = 0;
    p.kept_bytes = 0;
}

}  // namespace

const Settings& settings() { return process().settings; }
Counts& counts() { return process().counts; }

void complain(const std::string& text) {
    const std::string line = "vkgemm_blas: " + text + "\n";
    std::fwrite(line.data(), 1, line.size(), stderr);  // in one piece, also from several threads
}

void log_call(const std::string& what, int64_t m, int64_t n, int64_t k, bool on_device) {
    complain(what + " " + std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k) +
             (on_device ? " on the device" : " by the CPU BLAS"));
}

void log_spent(const Spent& s, double seconds) {
    char line[320];
    const auto ms = [](double x) { return x * 1e3; };
    const auto megabytes = [](uint64_t bytes) { return static_cast<double>(bytes) * 1e-6; };
    const double other = seconds - s.make - s.pack - s.submit - s.wait - s.unpack;
    std::snprintf(line, sizeof line,
                  "%.3f ms: make %.3f, pack %.3f (%.1f MB), submit %.3f, wait %.3f, unpack %.3f (%.1f MB), other %.3f; "
                  "%llu products computed for %.3f ms of %.3f",
                  ms(seconds), ms(s.make), ms(s.pack), megabytes(s.uploaded), ms(s.submit), ms(s.wait), ms(s.unpack),
                  megabytes(s.downloaded), ms(other), static_cast<unsigned long long>(s.products), ms(s.computing),
                  ms(s.span));
    complain(line);
}

Estimates& estimates() { return process().estimates; }
Measured& measured_rates(Type type) { return type == f64 ? process().measured_f64 : process().measured_f32; }

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
    Process& p = process();
    if (!locked.engine() || p.settings.cache.empty() || locked.engine()->compiled() == p.kept_plans) return;
    p.kept_plans = locked.engine()->compiled();
    const auto keep = [&p, engine = locked.engine()] {
        try {
            const auto data = engine->device().pipelineCacheData();
            if (!data || data->size() == p.kept_bytes) return;
            p.kept_bytes = data->size();
            Cache(p.settings.cache).write("pipelines", key_of(engine->info()), *data);
        } catch (...) {  // no memory
        }
    };
    predicts(p.settings) ? background().add(keep, true) : keep();
} catch (...) {  // no memory
}

void set_next_library(const std::string& file) {
    Process& p = process();
    const std::unique_lock lock(p.text_mutex, std::try_to_lock);  // a forked child may find it locked for good
    if (lock) p.next_library = file;
}

LockedEngine lock_engine(std::optional<Type> type) {
    Process& p = process();
    if (p.unusable) return {};
    LockedEngine locked{.lock = std::unique_lock(p.engine_mutex)};
    const bool native = type && uses_native(p.settings, *type);
    if (!p.tried) {
        p.tried = true;
        p.native = native;
        static const int registered = pthread_atfork(before_fork, in_parent, in_child);
        opened = true;
        const Status done = registered == 0 ? open_timed(p, native, p.engines)
                                            : Status{VKGEMM_ERROR_OUT_OF_MEMORY, VK_SUCCESS, "pthread_atfork failed"};
        p.devices = p.engines.size();
        if (!done) report_no_device(p, done);
        if (!p.engines.empty()) {
            const std::lock_guard lock(p.text_mutex);
            p.device.clear();
            for (const Engine* e : p.engines) p.device += (p.device.empty() ? "" : " and ") + e->info().name;
        } else {
            p.unusable = true;
        }
    } else if (native && !p.native && !p.unusable) {
        open_again(p);
    }
    if (!p.unusable) locked.engines = p.engines;
    return locked;
}

void keep(const void* address, uint64_t bytes) {
    const LockedEngine locked = lock_engine({});
    if (!locked.engine()) return;
    process().keeps = true;
    for (Engine* e : locked.engines) e->keep(address, bytes);
}

bool hold(void* address, uint64_t bytes) {
    const LockedEngine locked = lock_engine({});
    if (!locked.engine() || bytes == 0) return false;
    Process& p = process();
    const std::lock_guard lock(p.held_mutex);
    const Place wanted = place_of(address, bytes);
    for (const auto& [begin, held] : p.held)
        if (overlap(place_of(begin, held.bytes), wanted)) return begin == address && held.bytes == bytes;
    p.held[address] = {.bytes = bytes};
    return p.holds = true;
}

/// What is held of this address, or everything: to the host. False if results were lost.
bool end_hold(const void* address, bool forgets) {
    Process& p = process();
    if (!p.holds) return true;
    const LockedEngine locked{std::unique_lock(p.engine_mutex), p.engines};  // also when no device is left
    std::vector<Place> places;
    {
        const std::lock_guard lock(p.held_mutex);
        for (const auto& [begin, held] : p.held)
            if (!address || begin == address) places.push_back(place_of(begin, held.bytes));
    }
    bool all = true;
    for (const Place& place : places) {
        flush_results({.engines = p.engines}, place, forgets);
        const std::lock_guard lock(p.held_mutex);
        auto& held = p.held[place.address];
        all = all && !std::exchange(held.lost, false);
        if (forgets) p.held.erase(place.address);
    }
    const std::lock_guard lock(p.held_mutex);
    p.holds = !p.held.empty();
    return all;
}
bool flush(const void* address) { return end_hold(address, false); }
bool forget(const void* address) {
    if (!address) return true;
    const bool all = end_hold(address, true);
    if (!process().keeps) return all;
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
    Process& p = process();
    {
        const std::lock_guard lock(p.held_mutex);
        for (auto& [begin, held] : p.held)
            for (const Place& place : places)
                if (overlap(place_of(begin, held.bytes), place)) held.lost = true;
    }
    complain("results that stayed on the device could not be fetched: they are NaN, and vkgemm_blas_flush returns 1");
}

bool notes_memory() { return process().keeps || process().holds; }
void note_write(const Place& place) {
    if (!notes_memory() || place.bytes() == 0) return;
    const LockedEngine locked = lock_engine({});
    for (Engine* e : locked.engines) e->wrote(place.address, place.bytes());
    flush_results(locked, place, true);
}
void note_read(const Place& place) {
    if (process().holds) flush_results(lock_engine({}), place, false);
}

void report_failure(const LockedEngine&, Engine* engine, const Status& status) {
    Process& p = process();
    const bool usable = status.code == VKGEMM_ERROR_OUT_OF_MEMORY;
    if (!usable) {
        report_lost(engine->invalidate(place_of(nullptr, UINT64_MAX)));
        std::erase(p.engines, engine);
        p.devices = p.engines.size();
        if (p.engines.empty()) p.unusable = true;
    }
    const char* const by = usable              ? "the CPU BLAS computes this tile"
                           : p.engines.empty() ? "the CPU BLAS computes from now on"
                                               : "the other devices compute from now on";
    if (!p.complained.exchange(true))
        complain(status.text + "; " + by + "; further failures are counted (VKGEMM_BLAS_LOG=summary)");
}

size_t device_count() { return process().devices; }

Support support_of(Type type) { return type == f64 ? process().support_f64 : process().support_f32; }

void set_support(Type type, Support support, const Status& why) {
    Process& p = process();
    const Support before = (type == f64 ? p.support_f64 : p.support_f32).exchange(support);
    if (support == Support::no && before != support && p.settings.log != LogLevel::failures)
        complain(std::string(type == f64 ? "f64" : "f32") + " goes to the CPU BLAS: " + why.text);
}

void set_ilp64() { process().settings.ilp64 = true; }
bool is_usable() { return !process().unusable; }

thread_local bool EngineMutex::mine_ = false;

InsideNext::InsideNext() : outer_(inside_next) { inside_next = true; }
InsideNext::~InsideNext() { inside_next = outer_; }
bool InsideNext::active() { return inside_next; }

}  // namespace vkgemm::blas
