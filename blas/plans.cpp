// SPDX-License-Identifier: MIT
// The engine's plans, and where their kernels are compiled.
#include "blas/plans.h"

#include <utility>

#include "blas/background.h"

namespace vkgemm::blas {
namespace {

constexpr uint64_t workspace_limit = 512u << 20;  // packed operands of 4096 x 4096 f64 take 256 MiB
constexpr double quick = 1e-3;                    // seconds: a plan that compiles nothing takes less

}  // namespace

template <class Make>
auto Engine::timed(const Make& make) {
    const double before = spent_.make;
    auto made = [&] {
        const Timer timer(spent_.make);
        return make();
    }();
    if (spent_.make - before > quick) {
        ++created_;
        ++compiled_;
    }
    return made;
}

VkgemmAccuracy Engine::accuracy_for(const Problem& problem) const {
    if (problem.a.type != f64) return accuracies_.of_f32;
    if (accuracies_.of_f64) return *accuracies_.of_f64;
    Problem split = problem;
    split.accuracy = VKGEMM_ACCURACY_F64_SPLIT;
    const PlanOptions dry{.flags = VKGEMM_PLAN_DRY, .workspaceLimit = workspace_limit};
    if (device_.context().createPlan(problem, dry).status().code != VKGEMM_ERROR_UNSUPPORTED)
        return VKGEMM_ACCURACY_DEFAULT;  // what is small beside the rest of its row may count as 0 from int8
    return device_.context().createPlan(split, dry) ? VKGEMM_ACCURACY_F64_SPLIT : VKGEMM_ACCURACY_DEFAULT;
}

Result<Engine::Planned*> Engine::planned(const TileProduct& p) {
    if (const auto known = plans_.find(p); known != plans_.end()) return &known->second;
    Problem problem = problem_for(p);
    auto plan = timed([&] {
        problem.accuracy = accuracy_for(problem);
        return device_.context().createPlan(problem,
                                            {.flags = VKGEMM_PLAN_DEFER_COMPILE, .workspaceLimit = workspace_limit});
    });
    if (!plan) return plan.status();
    Planned& made = plans_[p];
    made.plan = *std::move(plan);
    made.accuracy = problem.accuracy;
    return &made;
}

Result<const Engine::Planned*> Engine::plan_for(const TileProduct& p) {
    const auto found = planned(p);
    if (!found) return found.status();
    const Plan& plan = (*found)->plan;
    if (plan.info().missingPipelines > 0)
        if (Status s = timed([&] { return plan.compile(); }); !s) return s;
    return *found;
}

bool Engine::is_compiled(const TileProduct& p) {
    const auto found = planned(p);
    if (!found) return true;  // enqueue() says why
    Planned& it = **found;
    if (!it.settled && it.plan.info().missingPipelines == 0) it.settled = true;
    if (it.settled || std::exchange(it.asked, true)) return it.settled;
    ++compiling_;
    try {
        background().add(
            [this, &it] {
                if (it.plan.compile()) ++compiled_;
                it.settled = true;
                --compiling_;
            },
            false);
    } catch (...) {  // no thread
        --compiling_;
        it.settled = true;
    }
    return it.settled;
}

Result<const Plan*> Engine::plan(const Problem& problem) {
    const auto text = formatProblem(problem);
    if (!text) return text.status();
    auto known = other_plans_.find(*text);
    if (known == other_plans_.end()) {
        auto plan = timed([&] { return device_.context().createPlan(problem, {.workspaceLimit = workspace_limit}); });
        if (!plan) return plan.status();
        known = other_plans_.emplace(*text, *std::move(plan)).first;
    }
    return &known->second;
}

}  // namespace vkgemm::blas
