// SPDX-License-Identifier: MIT
#include "blas/state.h"

#include "blas/process.h"

namespace vkgemm::blas {
namespace {

thread_local bool inside_next = false;
thread_local HoldFloatExceptions* held = nullptr;  // the outermost, which has what the caller set

}  // namespace

const Settings& settings() { return process().settings; }
Counts& counts() { return process().counts; }

Estimates& estimates() { return process().estimates; }
Measured& measured_rates(Type type) { return type == f64 ? process().measured_f64 : process().measured_f32; }

const char* next_file() { return process().next_file; }

void set_next_library(const char* file) noexcept try {
    Process& p = process();
    const std::unique_lock lock(p.text_mutex, std::try_to_lock);  // a forked child may find it locked for good
    if (lock) p.next_library = file;
} catch (...) {  // no memory: the summary lacks it
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

HoldExceptions::HoldExceptions() : outermost_(!held) {
    if (outermost_) held = &held_;
}
HoldExceptions::~HoldExceptions() {
    if (outermost_) held = nullptr;
}

InsideNext::InsideNext() : outer_(inside_next) {
    inside_next = true;
    if (!outer_ && held) held->release();
}
InsideNext::~InsideNext() {
    inside_next = outer_;
    if (!outer_ && held) held->hold();
}
bool InsideNext::active() { return inside_next; }

}  // namespace vkgemm::blas
