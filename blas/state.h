// SPDX-License-Identifier: MIT
// What the process has once: the settings, the device, the counts, what is printed. Everything here may be called on
// any thread, and in a forked child.
#pragma once
#include <atomic>
#include <mutex>

#include "blas/cache.h"
#include "blas/decision.h"
#include "blas/engine.h"

namespace vkgemm::blas {

/// Read at the first call.
const Settings& settings();

/// Prints a line to stderr, after the name of the library.
void complain(const std::string& text);
/// For VKGEMM_BLAS_LOG=calls.
void log_call(const std::string& what, int64_t m, int64_t n, int64_t k, bool on_device);
void log_spent(const Spent& spent, double seconds);
/// For the summary.
void set_next_library(const std::string& file);

/// The devices and the lock on them. There is none if it is not wanted, not there or failed, or the process is a forked
/// child of one that had it, unless VKGEMM_BLAS_FORK=reopen.
struct LockedEngine {
    std::unique_lock<std::mutex> lock{};
    std::span<Engine* const> engines{};
    Engine* engine() const { return engines.empty() ? nullptr : engines.front(); }
};
/// How many there are; 0 before the first is opened.
size_t device_count();
/// For the decision.
Estimates& estimates();
struct Measured {
    Rates rates{};
    bool kept = false;               // by an earlier process
    std::atomic<bool> done = false;  // `rates` does not change any more
};
Measured& measured_rates(Type type);
/// What an earlier process measured on this device, or nothing.
std::optional<Rates> kept_rates(const LockedEngine& locked, Type type);
void keep_rates(const LockedEngine& locked, Type type, const Rates& rates);
/// Keeps the pipelines if there are new ones.
void keep_pipelines(const LockedEngine& locked) noexcept;

/// A call is counted as one of the first two. A tile that failed on the device is computed by the CPU BLAS.
struct Counts {
    std::atomic<uint64_t> device_calls = 0, next_calls = 0, failed_tiles = 0;
};
Counts& counts();

/// Opens the device if no call did before. `type`: what is to be computed, if that is known. The first that has native
/// kernels opens the device again, if it was opened without them.
LockedEngine lock_engine(std::optional<Type> type);

/// Engine::keep and forget, for vkgemm_blas_keep.
void keep(const void* address, uint64_t bytes);
void forget(const void* address);
/// The CPU BLAS is about to write this memory.
void note_write(const void* address, uint64_t bytes);
bool keeps_memory();  ///< keep() was called: every write is to be noted

/// A tile failed. The first failure is printed. The device is not used again unless the reason is a lack of memory.
/// Ends the use of `locked.engines`.
void report_failure(const LockedEngine& locked, const Engine* engine, const Status& status);
enum class Support : uint8_t { unknown, yes, no };
/// Whether the device can do products of this type. If it cannot, they are forwarded, which is not a failure.
Support support_of(Type type);
void set_support(Type type, Support support, const Status& why = {});
/// False once the device failed, is not there or is not wanted.
bool is_usable();

/// While this exists, calls on this thread go to the CPU BLAS, which may call names of this library itself.
class InsideNext {
   public:
    InsideNext();
    InsideNext(const InsideNext&) = delete;
    InsideNext& operator=(const InsideNext&) = delete;
    ~InsideNext();
    static bool active();

   private:
    bool outer_;
};

}  // namespace vkgemm::blas
