// SPDX-License-Identifier: MIT
#include "vk/checked_run.h"

#include <cstring>
#include <utility>

#include "plan/base/concat.h"
#include "plan/problem/factors.h"
#include "vk/versioned.h"
#include "vkgemm/text.hpp"

namespace vkgemm::vk {
namespace {

using plan::Refusal;
using plan::Result;

// The sizes of a completed run, or what is wrong with them.
Result<plan::Sizes> sizes_of(const VkgemmPlan_T& plan, const VkgemmRun& run) {
    if (run.flags & VKGEMM_RECORD_SIZES) {
        const plan::Sizes sizes = {run.m, run.n, run.k, run.batch};
        if (auto why = plan::unfit_sizes(plan.plan.problem.completed, sizes)) return *why;
        return sizes;
    }
    for (const auto& [name, size] : {std::pair{"m", run.m}, {"n", run.n}, {"k", run.k}, {"batch", run.batch}})
        if (size)
            return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                           plan::concat({"VkgemmRun::", name, " is ", size, ", but flags has no VKGEMM_RECORD_SIZES"})};
    return plan::sizes_of(plan.plan.problem.completed);
}

// The strides of a run, where those that are 0 are the problem's.
VkgemmRunStrides with_strides_of(const plan::Problem& completed, const VkgemmRunStrides& given) {
    const plan::Problem p = plan::restated(completed);
    VkgemmRunStrides out = given;
    const auto fill = [](uint64_t& stride, uint64_t of_problem) {
        if (stride == 0) stride = of_problem;
    };
    const auto fill_d = [&](uint64_t& stride, uint64_t of_problem) {  // which is never shared: there is one matrix
        if (of_problem != VKGEMM_BROADCAST) fill(stride, of_problem);
    };
    fill(out.lda, p.a.ld);
    fill(out.ldb, p.b.ld);
    fill(out.ldc, p.c.ld);
    fill(out.ldd, p.d.ld);
    fill(out.batchStrideA, p.a.batchStride);
    fill(out.batchStrideB, p.b.batchStride);
    fill(out.batchStrideC, p.c.batchStride);
    fill_d(out.batchStrideD, p.d.batchStride);
    fill(out.outerStrideA, p.outerStrideA);
    fill(out.outerStrideB, p.outerStrideB);
    fill(out.outerStrideC, p.outerStrideC);
    fill_d(out.outerStrideD, p.outerStrideD);
    return out;
}

// The problem of a run with strides of its own. It is filled in where it is, because it is a kilobyte.
std::optional<Status> set_strided_problem(plan::RunProblem& out, const VkgemmPlan_T& plan, const plan::Sizes& sizes,
                                          const VkgemmRunStrides& strides) {
    const auto completed = plan::of_run(plan.plan.problem.given, sizes, strides);
    if (!completed) return completed.status();
    out.completed = *completed;
    out.normalised = plan::normalise(out.completed);
    return plan::unfit_strides(out, plan.context->caps, plan.plan.steps.binding);
}

// Whether a run with the plan's own strides may have the kernels for wide ones.
bool is_wide(const VkgemmPlan_T& plan, const plan::RunProblem& run) {
    return !(plan.plan.problem.completed.upTo & VKGEMM_UP_TO_STRIDES) || plan::are_wide(run.normalised.problem);
}

std::optional<Status> unfit_flags(const VkgemmPlan_T& plan, const VkgemmRun& run) {
    const bool has_strides = run.flags & VKGEMM_RECORD_STRIDES;
    if (has_strides && !(plan.plan.problem.completed.upTo & VKGEMM_UP_TO_STRIDES))
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                       "flags has VKGEMM_RECORD_STRIDES, but the plan was made for its own strides alone; set "
                       "VKGEMM_UP_TO_STRIDES in VkgemmProblem::upTo to vary them"};
    if ((run.flags & VKGEMM_RECORD_KEEP_STRIDES) && !has_strides)
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                       "flags has VKGEMM_RECORD_KEEP_STRIDES, but not VKGEMM_RECORD_STRIDES; set both or neither"};
    constexpr VkgemmRunStrides none = {};
    if (!has_strides && std::memcmp(&run.strides, &none, sizeof none) != 0)
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                       "VkgemmRun::strides are not 0, but flags has no VKGEMM_RECORD_STRIDES"};
    return std::nullopt;
}

// What the run does with one operand; 0: nothing.
VkAccessFlags2 access_of(const VkgemmPlan_T& p, const CheckedRun& checked, VkgemmSlot slot) {
    const plan::Requirement& need = (*checked.work.slots)[size_t(slot)];
    const auto is_zero = [&](double x) { return plan::is_zero_factor(x, plan::finished_in(p.plan.problem.completed)); };
    const auto [alpha, beta] = plan::known_factors(p.plan.problem.completed, checked.run.alpha, checked.run.beta);
    const bool is_factor = slot == VKGEMM_SLOT_A || slot == VKGEMM_SLOT_B || slot == VKGEMM_SLOT_B2;
    bool reads = need.reads;
    if (is_factor && is_zero(alpha)) reads = false;
    if (slot == VKGEMM_SLOT_C && is_zero(beta)) reads = false;
    if (slot == VKGEMM_SLOT_D && p.plan.problem.completed.cSource == VKGEMM_C_IS_D && is_zero(beta)) reads = false;
    return need.bytes == 0 ? 0
                           : (reads ? VK_ACCESS_2_SHADER_STORAGE_READ_BIT : 0) |
                                 (need.writes ? VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT : 0);
}

}  // namespace

uint32_t accesses_of(const VkgemmPlan_T& plan, const CheckedRun& checked, VkgemmRunAccess* out, uint32_t capacity) {
    uint32_t count = 0;
    for (size_t i = 0; i < size_t{VKGEMM_SLOT_COUNT}; ++i) {
        const VkAccessFlags2 access = access_of(plan, checked, VkgemmSlot(i));
        if (!access) continue;
        const Resolved& x = checked.operands[i];
        if (out && count < capacity)
            out[count] = {VkgemmSlot(i), 0,        VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
                          access,        x.buffer, x.buffer ? x.offset : 0,
                          x.bytes,       x.address};
        ++count;
    }
    return count;
}

void complete_sizes(VkgemmRun& run, const VkgemmPlan_T& plan) {
    if (!(run.flags & VKGEMM_RECORD_SIZES)) return;
    const plan::Sizes whole = plan::sizes_of(plan.plan.problem.completed);
    const auto complete = [](uint64_t& size, uint64_t of_problem) {
        if (size == VKGEMM_SIZE_OF_PROBLEM) size = of_problem;
    };
    complete(run.m, whole.m);
    complete(run.n, whole.n);
    complete(run.k, whole.k);
    complete(run.batch, whole.batch);
}

std::optional<Status> read_run(VkgemmRun& out, plan::Sizes& out_sizes, const VkgemmPlan_T& plan,
                               const VkgemmRun* given) {
    Result<VkgemmRun> run = read_struct(given);
    if (!run) return run.status();
    constexpr uint32_t known = VKGEMM_RECORD_BARRIER_BEFORE | VKGEMM_RECORD_BARRIER_AFTER | VKGEMM_RECORD_ZERO_ALPHA |
                               VKGEMM_RECORD_SIZES | VKGEMM_RECORD_STRIDES | VKGEMM_RECORD_KEEP_STRIDES;
    if (run->flags & ~known)
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                       plan::concat({"VkgemmRun::flags has unknown bits: ", run->flags & ~known})};
    const bool zero = run->flags & VKGEMM_RECORD_ZERO_ALPHA;
    if (zero && run->alpha != 0)
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                       plan::concat({"VkgemmRun::alpha is ", numberText(run->alpha),
                                     ", but flags has VKGEMM_RECORD_ZERO_ALPHA; leave one of them out"})};
    if (!zero && run->alpha == 0) run->alpha = 1;
    complete_sizes(*run, plan);
    const auto sizes = sizes_of(plan, *run);
    if (!sizes) return sizes.status();
    out = *run;
    out_sizes = *sizes;
    return unfit_flags(plan, *run);
}

std::optional<Status> check_run(CheckedRun& out, VkgemmPlan plan, const VkgemmRun* given) {
    if (!plan) return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, "plan is null"};
    plan::Sizes sizes;
    if (auto why = read_run(out.run, sizes, *plan, given)) return why;
    const VkgemmRun& run = out.run;
    const plan::PreparedProblem& whole = plan->plan.problem;
    if (auto why = unused_operand(whole.completed, plan->plan.steps.slots, run)) return why;
    if (plan->plan.steps.table && run.flags & VKGEMM_RECORD_SIZES) {
        out.work = grouped_work_of(*plan, plan::with_sizes(whole, sizes), out.sized.emplace());
    } else if (plan->plan.buckets.empty()) {
        out.work = work_of(*plan);
    } else if (run.flags & VKGEMM_RECORD_STRIDES) {
        plan::RunProblem problem;
        const bool keeps = run.flags & VKGEMM_RECORD_KEEP_STRIDES;
        const VkgemmRunStrides strides = keeps ? with_strides_of(whole.completed, run.strides) : run.strides;
        if (auto why = set_strided_problem(problem, *plan, sizes, strides)) return why;
        out.work = work_of(*plan, problem, plan::are_wide(problem.normalised.problem), out.sized.emplace());
    } else {
        const plan::RunProblem problem = plan::with_sizes(whole, sizes);
        out.work = work_of(*plan, problem, is_wide(*plan, problem), out.sized.emplace());
    }
    return resolve(*plan, run, out.work, out.operands);
}

}  // namespace vkgemm::vk
