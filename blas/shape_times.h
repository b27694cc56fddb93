// SPDX-License-Identifier: MIT
// What calls of one shape took: programs repeat shapes, and a time that was seen is worth more than a prediction.
#pragma once
#include <algorithm>
#include <array>
#include <mutex>

#include "blas/call.h"
#include "vkgemm/hash.hpp"

namespace vkgemm::blas {

/// Never 0. Two shapes are taken for each other with a probability of 2^-64.
template <class T>
uint64_t shape_key(const Gemm<T>& g, bool resident) {
    uint64_t key = emptyHash;
    for (const int64_t x : {int64_t(routine_of<T>), int64_t(g.op_a), int64_t(g.op_b), g.m, g.n, g.k, int64_t(resident),
                            int64_t(g.beta == T{})}) {
        key = hashed(key, static_cast<uint64_t>(x));
        key ^= key >> 29;
    }
    return key | 1;
}

/// Any thread may use it. While another one does, or did when the process forked, nothing is seen or remembered.
class ShapeTimes {
   public:
    /// The least seconds of its calls; 0: none was seen. `next_calls`: so many were seen by the CPU BLAS.
    struct Seconds {
        double device = 0, next = 0;
        unsigned next_calls = 0;
    };
    Seconds of(uint64_t key) const {
        const std::unique_lock lock(mutex_, std::try_to_lock);
        const Entry& e = entries_[key / 2 % entries_.size()];
        return lock && e.key == key ? e.seconds : Seconds{};
    }
    void saw_device(uint64_t key, double seconds) { saw(key, &Seconds::device, seconds); }
    void saw_next(uint64_t key, double seconds) { saw(key, &Seconds::next, seconds); }

   private:
    struct Entry {
        uint64_t key = 0;
        Seconds seconds{};
    };
    /// The least of few calls may be of an exception, and machines change: it rises slowly with each call.
    void saw(uint64_t key, double Seconds::*which, double seconds) {
        const std::unique_lock lock(mutex_, std::try_to_lock);
        if (!lock) return;
        Entry& e = entries_[key / 2 % entries_.size()];
        if (e.key != key) e = {.key = key};
        if (which == &Seconds::next) ++e.seconds.next_calls;
        double& least = e.seconds.*which;
        least = least == 0 ? seconds : std::min(1.02 * least, seconds);
    }

    mutable std::mutex mutex_;
    std::array<Entry, 512> entries_{};
};

}  // namespace vkgemm::blas
