// SPDX-License-Identifier: MIT
#include "blas/background.h"

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <thread>
#include <utility>

namespace vkgemm::blas {
namespace {

constexpr auto patience = std::chrono::seconds(20);  // a task that takes longer hangs
thread_local bool is_inside = false;                 // this is the thread: a driver may fork or exit in a task

}  // namespace

Background& background() {
    alignas(Background) static std::byte memory[sizeof(Background)];
    static Background& the = *new (memory) Background;
    return the;
}

void Background::add(std::function<void()> task, bool needed) {
    const std::lock_guard lock(mutex_);
    if (stopped_) return;
    tasks_.push_back({std::move(task), needed});
    ++left_;
    if (!started_) try {
            // Before the driver's own handlers, because those of the driver were there first.
            static const int registered = std::atexit([] { background().stop(); });
            if (registered == 0) std::thread([this] { serve(); }).detach();
            started_ = registered == 0;
        } catch (...) {  // no thread
            tasks_.pop_back();
            --left_;
            throw;
        }
    changed_.notify_all();
}

void Background::serve() {
    is_inside = true;
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [&] { return !tasks_.empty(); });
        const Task task = std::move(tasks_.front());
        tasks_.pop_front();
        busy_ = true;
        lock.unlock();
        task.run();
        lock.lock();
        busy_ = false;
        --left_;
        changed_.notify_all();
    }
}

void Background::stop() {
    if (is_inside) return;
    std::unique_lock lock(mutex_);
    stopped_ = true;
    std::erase_if(tasks_, [](const Task& t) { return !t.needed; });
    if (started_) changed_.wait_for(lock, patience, [&] { return tasks_.empty() && !busy_; });
}

void Background::before_fork() {
    if (is_inside) return;
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, patience, [&] { return !busy_; });
    forks_ = true;
    lock.release();  // until the fork is done
}
void Background::in_parent() {
    if (is_inside || !std::exchange(forks_, false)) return;
    mutex_.unlock();
}
void Background::in_child() { new (this) Background; }

}  // namespace vkgemm::blas
