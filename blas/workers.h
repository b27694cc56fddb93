// SPDX-License-Identifier: MIT
// Threads that copy operands: one core moves far less than a bus carries.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace vkgemm::blas {

/// One thread at a time may call run(). Its threads are started at the first big piece of work and never end: the
/// object is never destroyed.
class Workers {
   public:
    /// Calls work(begin, end) for ranges that together are [0, count), on several threads if there are at least
    /// `least_shared` bytes in all. `work` must not throw.
    void run(int64_t count, uint64_t bytes, const std::function<void(int64_t begin, int64_t end)>& work);

   private:
    static constexpr uint64_t least_shared = 1u << 20;
    static constexpr unsigned most_threads = 16;

    void start();
    void serve();
    void take_pieces(const std::function<void(int64_t, int64_t)>& work);

    std::vector<std::thread> threads_;
    bool started_ = false;
    std::mutex mutex_;  // of the rest, but `next_`
    std::condition_variable wake_, done_;
    const std::function<void(int64_t, int64_t)>* work_ = nullptr;
    uint64_t generation_ = 0;
    unsigned busy_ = 0;
    int64_t count_ = 0, piece_ = 0;
    std::atomic<int64_t> next_ = 0;
};

}  // namespace vkgemm::blas
