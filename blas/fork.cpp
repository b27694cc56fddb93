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
    Process& p = process();
    for (int i = 0; i < 60'000 && p.holds && !p.engine_mutex.is_mine() && !(forks = p.engine_mutex.try_lock()); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (p.holds) try {
            if (forks)
                write_all_back(p);
            else
                complain("a forked child lacks results that stay on the device");
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
    if (!p.opened) return;
    if (!p.settings.reopens) return void(p.unusable = true);
    new (&p.engine_mutex) EngineMutex;
    new (&p.text_mutex) std::mutex;
    p.engines.clear();
    p.devices = 0;
    p.tried = p.native = false;
    p.keeps = false;
}

}  // namespace vkgemm::blas
