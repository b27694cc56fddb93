// SPDX-License-Identifier: MIT
#include "measure/measure.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <span>

#include "cli/terminal.h"
#include "cli/text.h"
#include "measure/deviation.h"
#include "measure/machine.h"
#include "measure/numbers.h"
#include "measure/scalars.h"
#include "vkgemm/rounding.hpp"

namespace vkgemm::tool {
namespace {

constexpr VkDeviceSize rotated_bytes = 256'000'000;  // more than any cache holds
constexpr double short_warm_up = 0.1;                // seconds of load, where the clocks are up

std::string percent_text(double share) { return std::to_string(static_cast<int>(100 * share)) + " %"; }

}  // namespace

CaseRunner::CaseRunner(const host::Device& device, const Case& c, const MeasureOptions& options)
    : device_(device),
      case_(c),
      options_(options),
      r_(resolve(c.problem)),
      residual_(r_.residual_matrix()),
      is_cpu_(device.info().kind == VK_PHYSICAL_DEVICE_TYPE_CPU) {
    for (const VkgemmSlot slot : {VKGEMM_SLOT_A, VKGEMM_SLOT_B, VKGEMM_SLOT_C, VKGEMM_SLOT_D})
        if (const MatrixInfo* m = matrix(slot)) set_bytes_ += roundUp(m->span_bytes() + 2 * guard, guard);
    const bool fits = set_bytes_ + rotated_bytes < device.info().memoryBytes / 2;
    cold_ = options.cold || (!options.hot && !is_cpu_ && fits);
    if (cold_ && set_bytes_) sets_ = static_cast<size_t>(divUp(rotated_bytes, set_bytes_));
}

const ExactCase& CaseRunner::exact() {
    if (!exact_) exact_.emplace(case_, options_.seed);
    return *exact_;
}

Status CaseRunner::check(const Plan& plan, Measurement& result) {
    phase("makes operands");
    if (Status s = prepare_check(); !s || interrupted()) return s;
    const OperandCopies& d = check_slots_->at(VKGEMM_SLOT_D);
    if (!d.bytes) return {};  // an empty product: nothing can be wrong
    const auto besides = memory(plan, *check_slots_, 1);
    if (!besides) return besides.status();
    const Run run = run_of(*check_slots_, 0, *besides, exact_->alpha(), exact_->beta());
    phase("checks");
    if (Status s = run_checked(plan, run); !s || interrupted()) return s;

    result_.resize(d.buffer.size());
    if (Status s = device_.download(d.buffer, result_); !s) return s;
    if (auto wrong = wrong_scalars()) {
        result.wrong = *std::move(wrong);
        return Status{};
    }
    if (!options_.inject_fault.empty() && options_.inject_fault == result.kernel)
        result_[guard + d.bytes - 1] ^= std::byte{0x80};
    if (result_ == right_) {  // the same bits, guards included
        result.checked = extent_;
        return {};
    }
    find_wrong(d, result);
    if (result.wrong.empty() && right_.empty()) {
        right_ = result_;
        extent_ = result.checked;
    }
    return {};
}

const std::string* CaseRunner::known_right(std::span<const std::byte> d) const {
    if (right_.size() < d.size() + guard) return nullptr;
    return std::ranges::equal(d, std::span(right_).subspan(guard, d.size())) ? &extent_ : nullptr;
}

void CaseRunner::phase(const std::string& text) const {
    if (options_.phase) options_.phase(text);
}

/// If interrupted(), D may be incomplete.
Status CaseRunner::run_checked(const Plan& plan, const Run& run) const {
    if (!sliced_)
        return device_.submit([&](VkCommandBuffer commands) { return plan.record(commands, run); }, patience());
    return time_slices(
               device_, plan, 1, [&] { return run; }, patience(),
               [&](double done) { phase("checks, " + percent_text(done)); })
        .status();
}

std::optional<std::string> CaseRunner::wrong_scalars() {
    const OperandCopies& slot = check_slots_->at(VKGEMM_SLOT_SCALARS);
    std::vector<std::byte> all(slot.bytes ? slot.buffer.size() : 0);
    if (all.empty()) return std::nullopt;
    if (const Status s = device_.download(slot.buffer, all); !s) return s.text;
    return tool::wrong_scalars(case_.problem, r_, &all[guard], std::span(result_).subspan(guard));
}

void CaseRunner::find_wrong(const OperandCopies& d, Measurement& result) const {
    const ExactCase::Outcome outcome = exact_->verify(std::span(result_).subspan(guard, d.bytes));
    result.wrong = outcome.wrong;
    result.checked = extent_name(outcome.extent);
    const auto byte = static_cast<std::byte>(poison(r_.d.type));
    for (size_t i = 0; i < result_.size(); ++i) {
        if (i == guard) i += d.bytes;  // D, behind which there is a guard, too
        if (result_[i] == byte) continue;
        result.wrong = "memory outside D was written to, " +
                       (i < guard ? std::to_string(guard - i) + " bytes before it"
                                  : std::to_string(i - guard - d.bytes) + " bytes past its end");
        return;
    }
}

std::function<Run()> CaseRunner::timed_runs(const PlanMemory& memory) const {
    return [this, memory, next = size_t{0}]() mutable {
        return run_of(*time_slots_, next++ % sets_, memory, case_.alpha, case_.beta);
    };
}

host::RecordRun CaseRunner::recorder(const Plan& plan, const PlanMemory& memory) const {
    return [&plan, next = timed_runs(memory)](VkCommandBuffer commands, uint32_t) {
        return plan.record(commands, next());
    };
}

Result<host::Times> CaseRunner::time_runs(const Plan& plan, size_t runs, const std::function<Run()>& next) const {
    if (sliced_)
        return time_slices(device_, plan, runs, next, patience(),
                           [&](double done) { phase("times a run, " + percent_text(done)); });
    const auto record = [&](VkCommandBuffer commands, uint32_t) { return plan.record(commands, next()); };
    return device_.time(static_cast<uint32_t>(runs), record, patience());
}

Status CaseRunner::time(const Plan& plan, Measurement& result, const Alternating& others) {
    phase("makes operands");
    if (Status s = prepare_timing(); !s || interrupted()) return s;
    const auto besides = memory(plan, *time_slots_, sets_);
    if (!besides) return besides.status();
    const auto next = timed_runs(*besides);
    if (others.begin) others.begin();
    Timing timing(options_, result, [&](size_t runs) { return time_runs(plan, runs, next); });
    if (warm_) timing.warm_up_for(short_warm_up);
    const OthersLoad load;
    if (Status s = timing.rest(others.part); !s) return s;
    if (is_cpu_) result.others = load.share();  // who else computes slows a CPU device
    return is_cpu_ || sliced_
               ? Status{}
               : noted(in_a_row(plan, *besides, result), result);  // on a CPU one run keeps all cores busy
}

Status CaseRunner::in_a_row(const Plan& plan, const PlanMemory& memory, Measurement& result) const {
    // In turn with the first workspace: a plan's own barrier is between a run and the next but one.
    auto other = workspace(plan);
    if (!other) return other.status();
    const PlanMemory memories[] = {memory, {*other, memory.packed}};
    const auto record = [&](VkCommandBuffer commands, uint32_t i) {
        Run run = run_of(*time_slots_, i % sets_, memories[i % 2], case_.alpha, case_.beta);
        if (i % sets_ == 0) run.flags = VKGEMM_RECORD_BARRIER_BEFORE;  // the same D again
        return plan.record(commands, run);
    };
    return time_in_a_row(
        result, [&](size_t runs) { return device_.timeTogether(static_cast<uint32_t>(runs), record, patience()); });
}

Measurement CaseRunner::blank() const {
    Measurement m;
    m.flops = flops(case_);
    m.bytes = least_bytes(case_);
    m.cold = cold_;
    m.sets = sets_;
    return m;
}

/// Where the estimate of refused_memory() was too low, or others took what was left.
Measurement CaseRunner::out_of_memory() const {
    Measurement m = blank();
    m.failure = {VKGEMM_ERROR_OUT_OF_MEMORY, VK_SUCCESS,
                 case_.text + ": the host's memory is exhausted; its operands have " + bytes_text(operand_bytes(r_)) +
                     ", and several copies of them are needed; use smaller sizes"};
    return m;
}

Result<Plan> CaseRunner::make_plan(const PlanOptions& kernel, Measurement& result) {
    if (kernel.kernel) result.kernel = kernel.kernel;
    if (Status s = refused_memory(); !s) return s;  // at once, for planning a huge problem takes its time
    phase("compiles");
    auto made = create_stoppable(device_, case_, kernel);
    if (!made) return made.status();
    sliced_ = made->sliced;
    Plan plan = std::move(made->plan);
    const VkgemmPlanInfo info = plan.info();
    result.kernel = info.kernel;
    result.tile = info.tile ? info.tile : "";
    result.workspaceBytes = info.requiredBytes[VKGEMM_SLOT_WORKSPACE];
    return plan;
}

void CaseRunner::prepare(const PlanOptions& kernel, uint64_t beside) try {
    const uint64_t left = memory_left().bytes;
    if (beside > left || needed_memory() > left - beside) return;
    if (auto made = create_stoppable(device_, case_, kernel)) prepared_ = std::move(made->plan);
    if (options_.check) operands(true);
    operands(false);
} catch (const std::bad_alloc&) {
    exact_.reset();
    check_bytes_.reset();
    time_bytes_.reset();
}

Measurement CaseRunner::run(const PlanOptions& kernel, const Alternating& others) try {
    Measurement result = blank();
    const auto plan = make_plan(kernel, result);
    if (!plan) {
        result.failure = plan.status();
        return result;
    }
    if (options_.check) result.failure = check(*plan, result);
    if (!result.failure || !result.wrong.empty() || interrupted()) return result;
    result.failure = time(*plan, result, others);
    if (result.failure && options_.check && !interrupted()) result.failure = find_deviation(result);
    return result;
} catch (const std::bad_alloc&) {
    return out_of_memory();
}

/// Of what the timed runs left in the first set of operands.
Status CaseRunner::find_deviation(Measurement& result) {
    if (!has_deviation(case_)) return {};
    const OperandCopies& d = time_slots_->at(VKGEMM_SLOT_D);
    std::vector<std::byte> left(d.bytes);
    if (Status s = device_.download(d.buffer, guard, left); !s) return s;
    result.deviation = deviation_of(case_, operands(false), left);
    return {};
}

Measurement CaseRunner::check_only(const PlanOptions& kernel, size_t runs) try {
    Measurement result = blank();
    const auto plan = make_plan(kernel, result);
    if (!plan) {
        result.failure = plan.status();
        return result;
    }
    size_t& done = result.times.runs;
    while (done < runs && result.failure && result.wrong.empty() && !interrupted()) {
        result.failure = check(*plan, result);
        ++done;
    }
    if (done > 1 && !result.wrong.empty()) result.wrong += ", in run " + std::to_string(done);
    return result;
} catch (const std::bad_alloc&) {
    return out_of_memory();
}

Status CaseRunner::time_briefly(const Plan& plan, const PlanMemory& memory, const Trial& trial, Measurement& result) {
    const double give_up_above = trial.give_up_above, settle = trial.seconds / 4;
    const auto next = timed_runs(memory);
    const auto start = SteadyClock::now();
    const double load = is_cpu_ || warm_ ? 0 : warm_up_seconds;
    double seconds = 0;  // of one run, as far as is known
    load_.reset();
    for (int round = 0; round < 2 || since(start) < load; ++round) {  // the first run may be slower than all others
        const auto runs = round == 0 ? 1 : runs_in(settle, seconds, 1, 256);
        const auto times = time_runs(plan, runs, next);
        if (!times) return times.status();
        seconds = summarise(times->seconds).median;
        result.samples = times->seconds;
        result.clock = times->clock;
        if (interrupted() || seconds > (round == 0 ? 2 : 1) * give_up_above) break;
    }
    warm_ = true;
    if (seconds <= give_up_above && !interrupted()) {
        const size_t wanted = runs_in(trial.seconds, seconds, 3, 200);
        const auto times = time_runs(plan, wanted, next);
        if (!times) return times.status();
        result.samples = times->seconds;
    }
    result.times = summarise(result.samples);
    return {};
}

void CaseRunner::keep_busy(Plan plan, const PlanMemory& memory, double seconds) {
    if (is_cpu_ || load_) return;
    if (!busy_plan_) {
        busy_plan_ = std::move(plan);
        busy_memory_ = memory;
        busy_runs_ = static_cast<uint32_t>(runs_in(0.003, seconds, 1, 64));
    }
    load_.emplace(device_, busy_runs_, recorder(*busy_plan_, busy_memory_));
}

Measurement CaseRunner::try_out(const PlanOptions& kernel, const Trial& trial) try {
    Measurement result = blank();
    auto plan = make_plan(kernel, result);
    if (!plan) {
        result.failure = plan.status();
        return result;
    }
    if (trial.check) result.failure = check(*plan, result);
    if (!result.failure || !result.wrong.empty() || interrupted()) return result;
    result.failure = prepare_timing();
    if (!result.failure || interrupted()) return result;
    const auto besides = memory(*plan, *time_slots_, sets_);
    result.failure = besides ? time_briefly(*plan, *besides, trial, result) : besides.status();
    if (result.failure) keep_busy(*std::move(plan), *besides, result.times.median);
    return result;
} catch (const std::bad_alloc&) {
    return out_of_memory();
}

}  // namespace vkgemm::tool
