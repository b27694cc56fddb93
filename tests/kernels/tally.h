// SPDX-License-Identifier: MIT
// Runs many cases, and says of a broken kernel only the first few.
#pragma once
#include <doctest/doctest.h>

#include <set>

#include "kernels/run.h"

namespace vkgemm::test {

class Tally {
   public:
    /// Of `step` cases one is run, beginning with one that depends on the name; --all runs all of them.
    explicit Tally(std::string what, size_t step = 1) : what_(std::move(what)), step_(everything() ? 1 : step) {
        for (const char c : what_) first_ = (first_ * 31 + static_cast<unsigned char>(c)) % step_;
    }
    ~Tally() {
        CHECK_MESSAGE(wrong_ == 0, what_, ": ", wrong_, " of ", done_, " cases are wrong");
        CHECK_MESSAGE(offered_ > 0, what_, ": there is no case");
    }
    void operator()(const Case& x) {
        const bool takes_turn = offered_++ % step_ == first_;
        if (!takes_turn) return;
        ++done_;
        const std::string why = run(x);
        if (why.empty() || ++wrong_ > most_shown) return;
        MESSAGE(to_text(x), "\n  ", why);
    }

   private:
    static bool refused(const Case& x) {
        const plan::Kernel* kernel = plan::find_kernel(x.kernel);
        const auto completed = plan::complete(x.problem);
        if (!kernel || !completed || plan::is_empty(*completed)) return false;
        const plan::Problem p = plan::normalise(*completed).problem;
        const auto all = plan::operands(p);
        const bool wide = plan::is_wide(all[0], x.shift ? 1 : 16) && plan::is_wide(all[1], x.shift ? 1 : 16);
        return kernel->module.family.refuses(p) || (kernel->module.family.wants_wide && !wide);
    }

    static constexpr int most_shown = 3;
    std::string what_;
    size_t step_ = 1, first_ = 0, offered_ = 0;
    int done_ = 0, wrong_ = 0;
};

/// How many cases are passed over for one that is run. What rows of a module share is looked at in its first row; compiling a
/// wide tile takes CPU drivers a long time.
inline size_t step_of(const plan::Kernel& kernel, bool first_of_module) {
    const bool wide = kernel.tile.BM * kernel.tile.BN > 1024;
    return first_of_module ? (wide ? 4 : 1) : (wide ? 10 : 4);
}

/// Runs `each(kernel, tally)` for every row that fits the device.
template <class Each>
void for_each_kernel(Each&& each) {
    int fitting = 0;
    std::set<std::string_view> modules;
    for (const plan::Kernel& kernel : plan::kernels()) {
        if (!fits(kernel) || kernel.module.family.is_reducer) continue;
        ++fitting;
        Tally tally(std::string(kernel.name), step_of(kernel, modules.insert(kernel.module.name).second));
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
