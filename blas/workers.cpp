// SPDX-License-Identifier: MIT
#include "blas/workers.h"

#include <sched.h>

#include <algorithm>
#include <system_error>

namespace vkgemm::blas {
namespace {

/// Those that this process may use, which a job of MPI often limits.
unsigned usable_cores() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0) return std::max(1u, std::thread::hardware_concurrency());
    return std::max(1u, static_cast<unsigned>(CPU_COUNT(&set)));
}

}  // namespace

void Workers::start() {
    started_ = true;
    const unsigned wanted = std::min(usable_cores(), most_threads) - 1;  // the caller is one
    try {
        while (threads_.size() < wanted) threads_.emplace_back([this] { serve(); });
    } catch (const std::system_error&) {  // fewer threads, down to none, do the same
    }
}

void Workers::run(int64_t count, uint64_t bytes, const std::function<void(int64_t, int64_t)>& work) {
    if (count <= 0) return;
    if (bytes < least_shared) return work(0, count);
    if (!started_) start();
    const auto threads = static_cast<int64_t>(threads_.size()) + 1;
    {
        const std::lock_guard lock(mutex_);
        work_ = &work, count_ = count, next_ = 0;
        piece_ = std::max<int64_t>(1, count / (2 * threads));
        ++generation_;
    }
    wake_.notify_all();
    take_pieces(work);
    std::unique_lock lock(mutex_);
    work_ = nullptr;  // nobody starts any more
    done_.wait(lock, [this] { return busy_ == 0; });
}

void Workers::take_pieces(const std::function<void(int64_t, int64_t)>& work) {
    for (int64_t begin = next_.fetch_add(piece_); begin < count_; begin = next_.fetch_add(piece_))
        work(begin, std::min(count_, begin + piece_));
}

void Workers::serve() {
    uint64_t seen = 0;
    std::unique_lock lock(mutex_);
    for (;;) {
        wake_.wait(lock, [&] { return work_ && generation_ != seen; });
        seen = generation_;
        const auto& work = *work_;
        ++busy_;
        lock.unlock();
        take_pieces(work);
        lock.lock();
        if (--busy_ == 0) done_.notify_one();
    }
}

}  // namespace vkgemm::blas
