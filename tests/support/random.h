// SPDX-License-Identifier: MIT
// The random numbers of the tests. They are the same on every platform and standard library, so that a printed seed
// repeats a run anywhere.
#pragma once
#include "vkgemm/elements.hpp"

namespace vkgemm::test {

class Random {
   public:
    explicit Random(uint64_t seed) : state_(seed) {}

    uint64_t bits() { return splitmix64(state_); }
    uint64_t below(uint64_t bound) { return bits() % bound; }
    int64_t between(int64_t low, int64_t high) {
        return low + static_cast<int64_t>(below(static_cast<uint64_t>(high - low) + 1));
    }
    double unit() { return static_cast<double>(bits() >> 11) * 0x1p-53; }  // [0, 1)
    bool one_in(uint64_t n) { return below(n) == 0; }

    template <class List>
    auto pick(const List& list) {
        return list[below(list.size())];
    }

   private:
    uint64_t state_;
};

}  // namespace vkgemm::test
