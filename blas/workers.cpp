// SPDX-License-Identifier: MIT
#include "blas/workers.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#ifdef __SSE2__
#    include <emmintrin.h>
#endif

namespace vkgemm::blas {
namespace {

/// Those that this process may use, which a job of MPI often limits.
unsigned usable_cores() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0) return std::max(1u, std::thread::hardware_concurrency());
    return std::max(1u, static_cast<unsigned>(CPU_COUNT(&set)));
}

/// One turn of a loop that waits for another thread, which may need this core.
void pause(unsigned turn) {
#ifdef __SSE2__
    if (turn % 64 != 63) return _mm_pause();
#endif
    static_cast<void>(turn);
    std::this_thread::yield();
}

}  // namespace

void Workers::start() {
    started_ = true;
    const unsigned wanted = std::clamp(usable_cores() / sharing_, 1u, most_threads) - 1;  // the caller is one
    try {
        while (threads_.size() < wanted) threads_.emplace_back([this] { serve(); });
    } catch (const std::system_error&) {  // fewer threads, down to none, do the same
    }
}

void Workers::begin(int64_t count, uint64_t bytes, const Work& work) {
    work_ = &work;
    count_ = std::max<int64_t>(0, count);
    next_ = 0;
    piece_ = std::max<int64_t>(1, count_);
    if (bytes < least_shared || count_ == 0) return;
    if (!started_) start();
    piece_ = std::max<int64_t>(1, static_cast<int64_t>(static_cast<uint64_t>(count) * piece_bytes / bytes));
    open_ = true;
    ++generation_;
    if (sleeping_ > 0) {
        { const std::lock_guard lock(mutex_); }  // whoever has not seen the new generation waits by now
        wake_.notify_all();
    }
}

void Workers::end() {
    take_pieces();
    open_ = false;
    for (unsigned turn = 0; busy_ > 0; ++turn) pause(turn);
    work_ = nullptr;
}

void Workers::take_pieces() {
    for (int64_t begin = next_.fetch_add(piece_); begin < count_; begin = next_.fetch_add(piece_))
        (*work_)(begin, std::min(count_, begin + piece_));
}

void Workers::serve() {
    using Clock = std::chrono::steady_clock;
    constexpr auto patience = std::chrono::microseconds(300);
    uint64_t seen = 0;
    for (;;) {
        const auto since = Clock::now();
        for (unsigned turn = 0; generation_ == seen && Clock::now() - since < patience; ++turn) pause(turn);
        if (generation_ == seen) {
            std::unique_lock lock(mutex_);
            ++sleeping_;
            wake_.wait(lock, [&] { return generation_ != seen; });
            --sleeping_;
        }
        seen = generation_;
        ++busy_;
        if (open_) take_pieces();
        --busy_;
    }
}

}  // namespace vkgemm::blas
