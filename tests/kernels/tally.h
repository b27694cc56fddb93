// SPDX-License-Identifier: MIT
// Runs many cases, and says of a broken kernel only the first few.
#pragma once
#include <doctest/doctest.h>

#include <map>
#include <set>

#include "kernels/run.h"

namespace vkgemm::test {

class Tally {
   public:
    /// Of `step` cases one is run, counted over the whole program; --all runs all of them.
    explicit Tally(std::string what, size_t step = 1) : what_(std::move(what)), step_(everything() ? 1 : step) {}
    ~Tally() {
        CHECK_MESSAGE(wrong_ == 0, what_, ": ", wrong_, " of ", done_, " cases are wrong");
        CHECK_MESSAGE(offered_ > 0, what_, ": there is no case");
    }
    void operator()(const Case& x) {
        ++offered_;
        if (refused(x) || !can_be_exact(x) || counter()++ % step_ != 0) return;
        ++done_;
        const std::string why = run(x);
        if (why.empty() || ++wrong_ > most_shown) return;
        MESSAGE(to_text(x), "\n  ", why);
    }

    /// By its shape or alignment alone, as the family says.
    static bool refused(const Case& x) {
        const plan::Kernel* kernel = plan::find_kernel(x.kernel);
        const auto completed = plan::complete(x.problem);
        if (!kernel || !completed || plan::is_empty(*completed)) return false;
        const plan::Problem p = plan::normalise(*completed).problem;
        const auto all = plan::operands(p);
        const bool wide = plan::is_wide(all[0], x.shift ? 1 : 16) && plan::is_wide(all[1], x.shift ? 1 : 16);
        return kernel->module.family.refuses(p) || (kernel->module.family.wants_wide && !wide);
    }

   private:
    /// Cases of this kernel that were offered in the whole program.
    size_t& counter() const {
        static std::map<std::string, size_t> counts;
        return counts[what_];
    }

    static constexpr int most_shown = 3;
    std::string what_;
    size_t step_, offered_ = 0;
    int done_ = 0, wrong_ = 0;
};

/// Of how many cases one is run. What rows share is looked at in the first row of their family, then of their module.
/// CPU drivers take up to some seconds to compile a wide tile or matrices, so those get a case here and there.
inline size_t step_of(const plan::Kernel& kernel, bool first_of_family, bool first_of_module) {
    const uint32_t area = kernel.tile.BM * kernel.tile.BN;
    const size_t rank = first_of_family ? 1 : first_of_module ? 4 : 8;
    if (kernel.module.family.uses_matrix_units) return 20 * rank;
    return rank * (area <= 1024 ? 2 : area <= 4096 ? 6 : 20);
}

/// Runs `each(kernel, tally)` for every row that fits the device.
template <class Each>
void for_each_kernel(Each&& each) {
    int fitting = 0;
    std::set<std::string_view> families, modules;
    for (const plan::Kernel& kernel : plan::kernels()) {
        if (!fits(kernel) || kernel.module.family.role != plan::Role::product) continue;
        ++fitting;
        const bool first_of_family = families.insert(kernel.module.family.name).second;
        const bool first_of_module = modules.insert(kernel.module.name).second;
        Tally tally(std::string(kernel.name), step_of(kernel, first_of_family, first_of_module));
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
