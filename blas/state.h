// SPDX-License-Identifier: MIT
// What the process has once: the settings, the device, the counts, what is printed. Everything here may be called on
// any thread, and in a forked child.
#pragma once
#include <atomic>
#include <mutex>

#include "blas/engine.h"
#include "blas/settings.h"

namespace vkgemm::blas {

/// Read at the first call.
const Settings& settings();

/// Prints a line to stderr, after the name of the library.
void complain(const std::string& text);
/// For VKGEMM_BLAS_LOG=calls.
void log_call(Routine routine, char op_a, char op_b, int64_t m, int64_t n, int64_t k, const char* where);
/// For the summary.
void set_next_library(const std::string& file);

/// A call is counted as one of the first two. A tile that failed on the device is computed by the next BLAS.
struct Counts {
    std::atomic<uint64_t> device_calls = 0, next_calls = 0, failed_tiles = 0;
};
Counts& counts();

/// The engine and the lock on it. `engine` is null if there is none: not wanted, not there, failed, or the process is a
/// forked child of one that had it, where a device cannot be used.
struct LockedEngine {
    std::unique_lock<std::mutex> lock{};
    Engine* engine = nullptr;
};
/// Opens the device if no call did before.
LockedEngine lock_engine();

/// A tile failed. The first failure is printed. The device is not used again unless the reason is a lack of memory.
void report_failure(const LockedEngine& locked, const Status& status);
enum class Support : uint8_t { unknown, yes, no };
/// Whether the device can do products of this type. If it cannot, they are forwarded, which is not a failure.
Support support_of(Type type);
void set_support(Type type, Support support, const Status& why = {});
/// False once the device failed, is not there or is not wanted.
bool is_usable();

/// While this exists, calls on this thread go to the next BLAS, which may call names of this library itself.
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
