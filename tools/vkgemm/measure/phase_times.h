// SPDX-License-Identifier: MIT
// Where the time of a measurement goes: how long each of its phases took.
#pragma once
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "measure/timing.h"

namespace vkgemm::tool {

class PhaseTimes {
   public:
    using Phase = std::pair<std::string, double>;  // name and seconds

    /// What is done from now on, up to the first comma: "checks, 40 %" is a part of "checks". Empty: nothing that
    /// counts.
    void begin(std::string_view phase) {
        const auto now = SteadyClock::now();
        add(std::chrono::duration<double>(now - since_).count());
        since_ = now;
        current_ = phase.substr(0, phase.find(','));
    }
    /// Those that have ended, the longest first.
    std::vector<Phase> longest_first() const {
        std::vector<Phase> out = all_;
        std::ranges::stable_sort(out, std::greater(), &Phase::second);
        return out;
    }

   private:
    void add(double seconds) {
        if (current_.empty()) return;
        auto known = std::ranges::find(all_, current_, &Phase::first);
        if (known == all_.end()) known = all_.insert(known, {current_, 0});
        known->second += seconds;
    }

    std::vector<Phase> all_;
    std::string current_;
    SteadyClock::time_point since_ = SteadyClock::now();
};

}  // namespace vkgemm::tool
