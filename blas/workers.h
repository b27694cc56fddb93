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
/// object is never destroyed. Between calls of run() they look out for the next one for a short time before they sleep,
/// because to wake 15 threads takes as long as to copy megabytes.
class Workers {
   public:
    /// So many objects share the cores. To be called before run().
    void share_with(size_t workers) { sharing_ = static_cast<unsigned>(workers); }

    using Work = std::function<void(int64_t begin, int64_t end)>;
    /// Calls work(begin, end) for ranges that together are [0, count), on several threads if there are at least
    /// `least_shared` bytes in all. `work` must not throw.
    void run(int64_t count, uint64_t bytes, const Work& work) {
        begin(count, bytes, work);
        end();
    }
    /// The same in two parts: the other threads start, and the one that calls joins them. `work` must live until end().
    void begin(int64_t count, uint64_t bytes, const Work& work);
    void end();

   private:
    static constexpr unsigned most_threads = 16;
    static constexpr uint64_t least_shared = 256u << 10, piece_bytes = 128u << 10;

    void start();
    void serve();
    void take_pieces();

    unsigned sharing_ = 1;
    std::vector<std::thread> threads_;
    bool started_ = false;
    // The work. A thread counts itself busy, and reads the work only if it is open afterwards; run() closes it, and
    // waits until nobody is busy.
    const Work* work_ = nullptr;
    int64_t count_ = 0, piece_ = 0;
    std::atomic<int64_t> next_ = 0;
    std::atomic<bool> open_ = false;
    std::atomic<unsigned> busy_ = 0, sleeping_ = 0;
    std::atomic<uint64_t> generation_ = 0;
    std::mutex mutex_;  // of those that sleep
    std::condition_variable wake_;
};

}  // namespace vkgemm::blas
