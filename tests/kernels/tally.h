// SPDX-License-Identifier: MIT
// Runs many cases, and says of a broken kernel only the first few.
#pragma once
#include <doctest/doctest.h>

#include "kernels/run.h"

namespace vkgemm::test {

class Tally {
   public:
    explicit Tally(std::string what) : what_(std::move(what)) {}
    ~Tally() {
        CHECK_MESSAGE(wrong_ == 0, what_, ": ", wrong_, " of ", done_, " cases are wrong");
        CHECK_MESSAGE(done_ > 0, what_, ": no case was run");
    }
    void operator()(const Case& x) {
        ++done_;
        const std::string why = run(x);
        if (why.empty() || ++wrong_ > most_shown) return;
        MESSAGE(to_text(x), "\n  ", why);
    }

   private:
    static constexpr int most_shown = 3;
    std::string what_;
    int done_ = 0, wrong_ = 0;
};

/// Runs `each(kernel, tally)` for every row that fits the device.
template <class Each>
void for_each_kernel(Each&& each) {
    int fitting = 0;
    for (const plan::Kernel& kernel : plan::kernels()) {
        if (!fits(kernel) || kernel.module.family.is_reducer) continue;
        ++fitting;
        Tally tally{std::string(kernel.name)};
        each(kernel, tally);
    }
    CHECK(fitting > 0);
}

/// A case of the types of `kernel`, of size m x n x k.
inline Case case_for(const plan::Kernel& kernel, uint64_t m, uint64_t n, uint64_t k) {
    Case x;
    x.kernel = kernel.name;
    x.problem.m = m, x.problem.n = n, x.problem.k = k;
    x.problem.a.type = kernel.module.a, x.problem.b.type = kernel.module.b;
    x.problem.d.type = kernel.module.d, x.problem.accumulate = kernel.module.accumulate;
    return x;
}

/// One size that crosses every edge of the tile, and is no multiple of anything.
inline Case odd_case(const plan::Kernel& kernel) {
    const plan::Tile& t = kernel.tile;
    return case_for(kernel, t.BM + 3, t.BN + 5, 2 * std::max(t.BK, 4u) + 3);
}

}  // namespace vkgemm::test
