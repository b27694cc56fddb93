// SPDX-License-Identifier: MIT
// What the process has once: the settings, the device, the counts, what is printed. Everything here may be called on
// any thread, and in a forked child.
#pragma once
#include <atomic>
#include <mutex>

#include "blas/cache.h"
#include "blas/decision.h"
#include "blas/engine.h"
#include "vkgemm/float_exceptions.hpp"

namespace vkgemm::blas {

/// Read at the first call.
const Settings& settings();

/// VKGEMM_BLAS_CPU: a file; "": search.
const char* next_file();

/// Prints a line to stderr, after the name of the library. It takes no memory.
void complain(const char* text) noexcept;
inline void complain(const std::string& text) { complain(text.c_str()); }
/// For VKGEMM_BLAS_LOG=calls. `routine` follows the letter of the type; `how` comes after it.
void log_call(Routine type, const char* routine, const char* how, int64_t m, int64_t n, int64_t k, bool on_device);
void log_spent(const Spent& spent, double seconds);
/// For the summary.
void set_next_library(const char* file) noexcept;

/// A mutex that a thread asks whether it has it itself: a driver may fork or exit inside a call. There is one.
class EngineMutex {
   public:
    /// While this exists, its thread counts as one that has the mutex: it computes for another one that has it.
    class Shared {
       public:
        Shared() { mine_ = true; }
        Shared(const Shared&) = delete;
        Shared& operator=(const Shared&) = delete;
        ~Shared() { mine_ = false; }
    };
    EngineMutex() { mine_ = false; }
    void lock() {
        mutex_.lock();
        mine_ = true;
    }
    bool try_lock() { return !mine_ && (mine_ = mutex_.try_lock()); }
    void unlock() {
        mine_ = false;
        mutex_.unlock();
    }
    bool is_mine() const { return mine_; }

   private:
    std::mutex mutex_;
    static thread_local bool mine_;
};

/// The devices and the lock on them. There is none if it is not wanted, not there or failed, or the process is a forked
/// child of one that had it, unless VKGEMM_BLAS_FORK=reopen.
struct LockedEngine {
    std::unique_lock<EngineMutex> lock{};
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
    std::atomic<uint64_t> broadcasts = 0;  // of BLACS, whose matrix was read from the sender's memory
};
Counts& counts();

/// Opens the device if no call did before. `type`: what is to be computed, if that is known. The first that has native
/// kernels opens the device again, if it was opened without them.
LockedEngine lock_engine(std::optional<Type> type);

/// Engine::keep, for vkgemm_blas_keep.
void keep(const void* address, uint64_t bytes);
/// vkgemm_blas_hold, _flush and _forget. flush and forget return false if results were lost.
bool hold(void* address, uint64_t bytes);
bool flush(const void* address);
bool forget(const void* address);
/// Whether a product with this C may leave it on the device: hold() was called of memory that contains it. It takes no
/// lock where nothing is held.
bool may_be_resident(const Place& c);
/// Anything but a product on the device is about to write, or to read, this memory.
void note_write(const Place& place);
void note_read(const Place& place);
bool notes_memory();  ///< keep() or hold() was called: reads and writes are to be noted
/// Writes what is dirty on the devices in this place to the host, unless `exempt` is true of it and the device's index.
/// `ends`: and discards it. False after a failure, which was reported: then results may be lost, and the use
/// of `locked.engines` ends.
bool flush_results(const LockedEngine& locked, const Place& place, bool ends,
                   const std::function<bool(const Origin&, size_t)>& exempt = {});
/// NaN is in these places now, in the place of results.
void report_lost(std::span<const Place> places);

/// While this exists, products leave no results on the device: others than this library's products use them.
class SuspendResidency {
   public:
    SuspendResidency();
    SuspendResidency(const SuspendResidency&) = delete;
    SuspendResidency& operator=(const SuspendResidency&) = delete;
    ~SuspendResidency();
};

/// A tile failed. The first failure is printed. The device is not used again unless the reason is a lack of memory.
/// Ends the use of `locked.engines`.
void report_failure(const LockedEngine& locked, Engine* engine, const Status& status);
enum class Support : uint8_t { unknown, yes, no };
/// Whether the device can do products of this type. If it cannot, they are forwarded, which is not a failure.
Support support_of(Type type);
void set_support(Type type, Support support, const Status& why = {});
/// VKGEMM_BLAS_ILP64=1 from now on: the caller is known to have 64-bit integers. Before the first call.
void set_ilp64();
/// False once the device failed, is not there or is not wanted.
bool is_usable();

/// While this exists, nothing that this library or a driver computes traps on this thread or leaves a flag of a
/// floating-point exception. What the CPU BLAS computes does (InsideNext), because the caller may want it.
class HoldExceptions {
   public:
    HoldExceptions();
    HoldExceptions(const HoldExceptions&) = delete;
    HoldExceptions& operator=(const HoldExceptions&) = delete;
    ~HoldExceptions();

   private:
    HoldFloatExceptions held_;
    bool outermost_;
};

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
