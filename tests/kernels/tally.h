// SPDX-License-Identifier: MIT
// Runs many cases of one row, and prints the first few that are wrong.
#pragma once
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "kernels/rows.h"
#include "kernels/run.h"

namespace vkgemm::test {

/// The changes that a walk makes to every case that a test offers.
struct Twist {
    std::string tile;          // constants to replace
    uint32_t invocations = 0;  // see Case
    bool alternates = false;   // every second case is planned as for a GPU
};

/// Case::invocations for a GPU that allows as many as the device. On CPU drivers a product gets descriptors only so.
inline constexpr uint32_t as_on_a_gpu = 65536;

class Tally {
   public:
    /// Runs one in `step` cases, beginning with the `first`; with --all, all of them. An even step is made odd, because
    /// layouts count in powers of two: every eighth case would have the same one.
    explicit Tally(std::string what, size_t step = 1, size_t first = 0, Twist twist = {})
        : what_(std::move(what)), twist_(std::move(twist)), step_(everything() ? 1 : step | 1), first_(first % step_) {}
    ~Tally() {
        CHECK_MESSAGE(wrong_ == 0, what_, ": ", wrong_, " of ", done_, " cases are wrong");
        CHECK_MESSAGE(offered_ > 0, what_, ": there is no case");
    }
    Tally(const Tally&) = delete;
    Tally& operator=(const Tally&) = delete;

    /// The case as it is run.
    Case twisted(Case x) const {
        x = widened(std::move(x));
        if (!can_be_exact(x)) x.fill = Fill::random;
        x.tile = to_text(*plan::with_constants(*plan::with_constants({}, twist_.tile), x.tile));
        x.invocations = twist_.invocations;
        return x;
    }

    /// To be called if a test has no case for the row.
    void none() { offered_ = 1; }

    /// Was any case run?
    bool ran() const { return done_ > 0; }

    /// Was it run?
    bool operator()(const Case& offered) {
        ++offered_;
        Case x = twisted(offered);
        if (refused(x) || passed_++ % step_ != first_) return false;
        if (twist_.alternates && !x.addresses && ((done_ >> 1 ^ done_) & 1))  // not in step with what tests alternate
            x.invocations = as_on_a_gpu;
        ++done_;
        const std::string why = run(x);
        if (!why.empty() && ++wrong_ <= most_shown) MESSAGE(to_text(x), "\n  ", why);
        return true;
    }

   private:
    static constexpr int most_shown = 3;
    std::string what_;
    Twist twist_;
    size_t step_, first_, offered_ = 0, passed_ = 0;
    int done_ = 0, wrong_ = 0;
};

/// The elements of D of a case that must run.
inline std::vector<double> result(const Case& x) {
    const auto d = result_of(x);
    REQUIRE_MESSAGE(bool(d), to_text(x), ": ", d.status().text);
    return *d;
}

}  // namespace vkgemm::test
