// SPDX-License-Identifier: MIT
// Plans of all candidates of many problems, compiled by threads of their own while earlier problems are timed.
#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "measure/loss.h"
#include "measure/slices.h"
#include "vkgemm/host.hpp"

namespace vkgemm::tool {

/// The candidates of one problem with their plans.
struct PlannedCandidates {
    Regret regret;  // nothing is timed yet; `failure` is set if there is nothing to time. Hopeless ones are left out
    std::vector<std::optional<SlicedPlan>> plans;  // beside regret.tried; nullopt: it could not be made
};

class PlanAhead {
   public:
    /// `cases` must outlive it. On a GPU, problems are planned as early as threads are free; where the device is the
    /// processor itself, only when take() asks, so that nothing is compiled while something is timed.
    PlanAhead(const host::Device& device, const std::vector<RandomCase>& cases, uint32_t plan_flags);
    PlanAhead(const PlanAhead&) = delete;
    PlanAhead& operator=(const PlanAhead&) = delete;
    ~PlanAhead();  // ends the compilations that were begun, and begins no others

    /// Problem `index`, for each once and in order. `wait` is called again and again until its plans are there; it may
    /// use the device.
    PlannedCandidates take(size_t index, const std::function<void()>& wait);

   private:
    struct Entry {
        PlannedCandidates planned;
        bool claimed = false, listed = false;  // listing was begun, and has ended
        std::vector<size_t> order;             // of the plans, as they are made
        size_t next = 0, left = 0;             // the next one in that order, and how many are not ready
        bool ready() const { return listed && left == 0; }
    };
    void work();
    bool work_on(Entry& entry, const RandomCase& given, std::unique_lock<std::mutex>& lock);

    const host::Device& device_;
    const std::vector<RandomCase>& cases_;
    uint32_t plan_flags_;
    size_t ahead_;  // problems that may be planned beyond the one that is wanted
    size_t wanted_ = 0, first_open_ = 0;
    bool asked_ = false, ended_ = false;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Entry> entries_;
    std::vector<std::thread> threads_;
};

}  // namespace vkgemm::tool
