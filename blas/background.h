// SPDX-License-Identifier: MIT
// A thread for what no call waits for: kernels are compiled there, and files written.
#pragma once
#include <atomic>
#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>

namespace vkgemm::blas {

/// Its thread is started by the first task and never ends; the object is never destroyed. Tasks must not throw.
class Background {
   public:
    /// Any thread. After the ones before. `needed`: also if the process ends meanwhile, which waits for it.
    void add(std::function<void()> task, bool needed);

    /// Whether a task is under way or waits: it takes a core, which the CPU BLAS would need for all of its threads.
    bool is_busy() const { return left_ > 0; }

    /// Around a fork, which waits for the task that is under way: it may have locks of the driver. The child has no
    /// tasks, and a thread of its own with the first.
    void before_fork();
    void in_parent();
    void in_child();

   private:
    struct Task {
        std::function<void()> run{};
        bool needed = false;
    };
    void serve();
    void stop();

    std::mutex mutex_;  // of all
    std::condition_variable changed_;
    std::list<Task> tasks_;      // which takes no memory while it is empty
    std::atomic<int> left_ = 0;  // tasks, with the one that runs
    bool started_ = false, busy_ = false, stopped_ = false, forks_ = false;
};

Background& background();

}  // namespace vkgemm::blas
