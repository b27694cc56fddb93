// SPDX-License-Identifier: MIT
// What the process has once, for the files that implement state.h.
#pragma once
#include <map>

#include "blas/state.h"

namespace vkgemm::blas {

/// Never destroyed: another library's destructor may call BLAS after ours ran, and drivers have threads of their own.
struct Process {
    Settings settings;
    const char* next_file = "";  // the CPU BLAS
    Counts counts;
    std::atomic<bool> opened = false;  // set before the devices are opened for the first time
    EngineMutex engine_mutex;          // of the next five
    std::vector<Engine*> engines;      // never destroyed
    uint64_t kept_plans = 0;           // what `pipelines` holds
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

Process& process();

/// Writes all results that stay on the devices to the host. For whoever has the lock on the engines, or is alone.
void write_all_back(Process& p);

/// What the files of one device, driver and version are kept for.
std::string key_of(const host::DeviceInfo& info);

// The handlers of pthread_atfork.
void before_fork();
void in_parent();
void in_child();

/// For VKGEMM_BLAS_LOG=summary, at the end of the process.
void print_summary();

}  // namespace vkgemm::blas
