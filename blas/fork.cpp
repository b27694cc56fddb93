// SPDX-License-Identifier: MIT
// A forked child has neither the driver's threads nor a usable queue, and the mutex may be held by a thread that it
// lacks. It keeps the settings, and computes on the CPU or opens the device anew, beside what it has inherited.
#include <chrono>
#include <new>
#include <thread>

#include "blas/background.h"
#include "blas/process.h"

namespace vkgemm::blas {
namespace {

thread_local bool forks = false;  // this thread is between before_fork and in_parent, and holds both mutexes

}  // namespace

/// What stayed on the device goes to the host first, where the child finds it. No other call is under way while the
/// process forks, so that the child finds `held` whole; unless a driver forks inside a call, which cannot wait for it.
/// No exception leaves it, because C calls it.
void before_fork() {
    Process& state = process();
    for (int i = 0;
         i < 60'000 && state.holds && !state.engine_mutex.is_mine() && !(forks = state.engine_mutex.try_lock()); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const HoldExceptions held;
    if (state.holds) try {
            if (forks)
                write_all_back(state);
            else
                complain("a forked child lacks results that stay on the device");
        } catch (...) {  // no memory: the child lacks them
        }
    if (forks) state.held_mutex.lock();
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
    Process& state = process();
    background().in_child();
    if (state.holds) {
        new (&state.held_mutex) std::mutex;
        new (&state.held) std::map<const void*, Process::Held>;  // the other one may be half changed
        state.holds = forks = false;
    }
    state.suspensions = 0;  // other threads' calls are not under way here
    state.counts.device_calls = state.counts.next_calls = state.counts.failed_tiles = state.counts.broadcasts = 0;
    if (!state.opened) return;
    if (!state.settings.reopens) return void(state.unusable = true);
    new (&state.engine_mutex) EngineMutex;
    new (&state.text_mutex) std::mutex;
    state.engines.clear();
    state.devices = 0;
    state.tried = state.native = false;
    state.keeps = false;
}

}  // namespace vkgemm::blas
