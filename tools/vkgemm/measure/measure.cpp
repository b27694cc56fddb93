// SPDX-License-Identifier: MIT
#include "measure/measure.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <span>

#include "cli/terminal.h"
#include "measure/deviation.h"
#include "measure/numbers.h"
#include "measure/scalars.h"

namespace vkgemm::tool {
namespace {

constexpr VkDeviceSize guard = OperandCopies::guard;
constexpr VkDeviceSize rotated_bytes = 256'000'000;  // more than any cache holds
constexpr uint64_t random_period = 4'194'301;        // elements; a prime, so that rows and columns differ
constexpr double warm_up_seconds = 0.4;              // of load; clocks take that long to rise

using SteadyClock = std::chrono::steady_clock;
double since(SteadyClock::time_point start) {
    return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

VkDeviceSize rounded_up(VkDeviceSize bytes, VkDeviceSize unit) { return (bytes + unit - 1) / unit * unit; }

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& list) {
    const auto bytes = std::as_bytes(std::span(list));
    return {bytes.begin(), bytes.end()};
}

}  // namespace

Status Timing::warm_up() {
    const auto start = SteadyClock::now();
    double seconds = 0;  // of one run, as far as is known
    do {
        const auto times = run_(together_);
        if (!times) return times.status();
        seconds = summarise(times->seconds).median;
        together_ = runs_per_submission(seconds);
    } while (!interrupted() && since(start) < warm_up_seconds);
    wanted_ = runs_for(seconds, options_.min_time, options_.repeats);
    return {};
}

Status Timing::part() {
    constexpr size_t parts = 4;
    if (wanted_ == 0)
        if (Status s = warm_up(); !s) return s;
    std::vector<double>& samples = result_.samples;
    const size_t until = std::min(wanted_, samples.size() + (wanted_ + parts - 1) / parts);
    while (samples.size() < until && !interrupted()) {
        const auto times = run_(std::min(together_, until - samples.size()));
        if (!times) return times.status();
        samples.insert(samples.end(), times->seconds.begin(), times->seconds.end());
        result_.clock = times->clock;
    }
    result_.times = summarise(samples);
    result_.drift = drift_of(samples);
    return {};
}

Status Timing::rest(const std::function<void()>& between) {
    while (!done() && !interrupted()) {
        if (Status s = part(); !s) return s;
        if (between && !done()) between();
    }
    return {};
}

Status time_in_a_row(Measurement& result, const std::function<Result<double>(size_t runs)>& run) {
    if (result.sets < 2 || !result.timed() || interrupted()) return {};
    const size_t runs = runs_in(0.05, result.times.median, 4, 1000);
    std::vector<double> seconds;
    for (int i = 0; i < 3; ++i) {
        const auto all = run(runs);
        if (!all) return all.status();
        seconds.push_back(*all / static_cast<double>(runs));
    }
    result.in_a_row = summarise(seconds).median;
    return {};
}

Status noted(const Status& in_a_row, Measurement& result) {
    if (in_a_row) return {};
    if (in_a_row.code == VKGEMM_ERROR_DEVICE_LOST) {
        result.samples.clear();
        return in_a_row;
    }
    result.note = "not timed in a row: " + in_a_row.text;
    return {};
}

CaseRunner::CaseRunner(const host::Device& device, const Case& c, const MeasureOptions& options)
    : device_(device),
      case_(c),
      options_(options),
      r_(resolve(c.problem)),
      residual_(r_.residual_matrix()),
      is_cpu_(device.info().kind == VK_PHYSICAL_DEVICE_TYPE_CPU) {
    for (const VkgemmSlot slot : {VKGEMM_SLOT_A, VKGEMM_SLOT_B, VKGEMM_SLOT_C, VKGEMM_SLOT_D})
        if (const MatrixInfo* m = matrix(slot)) set_bytes_ += rounded_up(m->span_bytes() + 2 * guard, guard);
    const bool fits = set_bytes_ + rotated_bytes < device.info().memoryBytes / 2;
    cold_ = options.cold || (!options.hot && !is_cpu_ && fits);
    if (cold_ && set_bytes_) sets_ = static_cast<size_t>((rotated_bytes + set_bytes_ - 1) / set_bytes_);
}

/// The matrix in `slot`; null if the case has none there.
const MatrixInfo* CaseRunner::matrix(VkgemmSlot slot) const {
    const auto used = [](const MatrixInfo& m) { return m.span ? &m : nullptr; };
    switch (slot) {
        case VKGEMM_SLOT_A:
            return used(r_.a);
        case VKGEMM_SLOT_B:
            return used(r_.b);
        case VKGEMM_SLOT_C:
            return case_.problem.cSource == VKGEMM_C_SEPARATE ? used(r_.c) : nullptr;
        case VKGEMM_SLOT_D:
            return used(r_.d);
        case VKGEMM_SLOT_RESIDUAL:
            for (const Step& s : case_.problem.epilogue)
                if (s.kind == VKGEMM_STEP_RESIDUAL || s.kind == VKGEMM_STEP_DRELU) return used(residual_);
            return nullptr;
        default:
            return nullptr;
    }
}

std::vector<std::byte> CaseRunner::random_bytes(VkgemmSlot slot) const {
    const MatrixInfo* m = matrix(slot);
    const Type type = m ? m->type : slot == VKGEMM_SLOT_BIAS ? r_.bias : r_.scale;
    const uint32_t bytes = type_info(type).bytes, block = type_info(type).blockElements;
    const uint64_t count = m ? m->span / block : 2 * std::max(case_.problem.m, case_.problem.n);  // of blocks
    std::vector<std::byte> data(count * bytes);
    if (slot == VKGEMM_SLOT_D && case_.problem.cSource != VKGEMM_C_IS_D) return data;  // only written
    Random random{static_cast<uint64_t>(slot) + 1};
    const uint64_t fresh = std::min(count, std::max<uint64_t>(random_period / block / block, 1));
    std::vector<double> values(block);
    for (uint64_t i = 0; i < fresh; ++i) {
        for (double& value : values) value = random_value(type, random);
        encodeBlock(type, values, &data[i * bytes]);
    }
    for (uint64_t i = fresh; i < count; i += fresh)
        std::memcpy(&data[i * bytes], data.data(), std::min(fresh, count - i) * bytes);
    return data;
}

Status CaseRunner::fill_slot(OperandCopies& slot, const std::vector<std::byte>& bytes, size_t sets,
                             uint32_t poison) const {
    if (bytes.empty()) return {};
    if (!slot.buffer.handle()) {
        slot.bytes = bytes.size();
        slot.stride = rounded_up(slot.bytes + 2 * guard, guard);
        auto buffer = device_.createBuffer(slot.stride * sets);
        if (!buffer) return buffer.status();
        slot.buffer = *std::move(buffer);
    }
    if (sets == 1) {
        if (Status s = device_.fill(slot.buffer, 0, slot.stride, poison); !s) return s;
        return device_.upload(slot.buffer, guard, bytes);
    }
    // Many small sets go up together.
    const size_t together = std::clamp<size_t>((size_t{32} << 20) / slot.stride, 1, sets);
    std::vector<std::byte> block(slot.stride * together);
    for (size_t set = 0; set < together; ++set)
        std::ranges::copy(bytes, block.begin() + static_cast<std::ptrdiff_t>(set * slot.stride + guard));
    for (size_t set = 0; set < sets; set += together) {
        const size_t now = std::min(together, sets - set);
        if (Status s = device_.upload(slot.buffer, set * slot.stride, std::span(block).first(now * slot.stride)); !s)
            return s;
    }
    return {};
}

bool CaseRunner::uses(VkgemmSlot slot) const {
    for (const Step& step : case_.problem.epilogue)
        if (vector_width(step, slot)) return true;
    return matrix(slot) != nullptr;
}

const ExactCase& CaseRunner::exact() {
    if (!exact_) exact_.emplace(case_, options_.seed);
    return *exact_;
}

const OperandBytes& CaseRunner::operands(bool for_check) {
    std::optional<OperandBytes>& kept = for_check ? check_bytes_ : time_bytes_;
    if (kept) return *kept;
    kept.emplace();
    for (size_t i = 0; i < kept->size(); ++i)
        if (const auto slot = static_cast<VkgemmSlot>(i); uses(slot))
            kept->at(i) = for_check ? exact().bytes(slot) : random_bytes(slot);
    const bool has_groups = case_.problem.grouping != VKGEMM_GROUPING_NONE;
    const GroupTable table = has_groups ? group_table(case_.problem) : GroupTable{};
    kept->at(VKGEMM_SLOT_GROUPS) = bytes_of(table.groups);
    kept->at(VKGEMM_SLOT_INDICES) = bytes_of(table.indices);
    kept->at(VKGEMM_SLOT_SCALARS) =
        scalar_bytes(case_.problem, for_check ? exact().alpha() : case_.alpha, for_check ? exact().beta() : case_.beta);
    for (const VkgemmSlot slot : {VKGEMM_SLOT_A, VKGEMM_SLOT_B, VKGEMM_SLOT_C, VKGEMM_SLOT_BIAS, VKGEMM_SLOT_SCALE,
                                  VKGEMM_SLOT_RESIDUAL})  // which may be read in words
        kept->at(slot).resize(rounded_up(kept->at(slot).size(), 4));
    return *kept;
}

Status CaseRunner::prepare_check() {
    if (Status s = refused_size(r_); !s) return s;
    const OperandBytes& bytes = operands(true);
    const bool first = !check_slots_;
    if (first) check_slots_.emplace();
    for (size_t i = 0; i < bytes.size(); ++i) {
        if (!first && i != VKGEMM_SLOT_D) continue;  // the others are still as they were
        const MatrixInfo* m = matrix(static_cast<VkgemmSlot>(i));
        const uint32_t around = poison(m ? m->type : r_.d.type);
        OperandCopies& slot = check_slots_->at(i);
        const bool all_poison = i == VKGEMM_SLOT_D && case_.problem.cSource != VKGEMM_C_IS_D;
        const Status filled = !first && all_poison && slot.bytes ? device_.fill(slot.buffer, 0, slot.stride, around)
                                                                 : fill_slot(slot, bytes[i], 1, around);
        if (!filled) {
            check_slots_.reset();
            return filled;
        }
    }
    return {};
}

Status CaseRunner::prepare_timing() {
    if (time_slots_) return {};
    if (Status s = refused_size(r_); !s) return s;
    const OperandBytes& bytes = operands(false);
    time_slots_.emplace();
    for (size_t i = 0; i < bytes.size(); ++i) {
        const bool rotates = i <= VKGEMM_SLOT_D;
        if (Status s = fill_slot(time_slots_->at(i), bytes[i], rotates ? sets_ : 1, 0); !s) {
            time_slots_.reset();
            return s;
        }
    }
    return {};
}

Result<host::Buffer> CaseRunner::workspace(const Plan& plan) const {
    const uint64_t bytes = plan.info().requiredBytes[VKGEMM_SLOT_WORKSPACE];
    if (bytes == 0) return host::Buffer{};
    auto buffer = device_.createBuffer(rounded_up(bytes, 4));
    if (!buffer) return buffer.status();
    if (Status s = device_.fill(*buffer, 0, buffer->size(), 0xffffffff); !s) return s;
    return buffer;
}

Result<OperandCopies> CaseRunner::packed(const Plan& plan, VkgemmSlot slot, const OperandCopies& from,
                                         size_t sets) const {
    const auto pack = plan.createPack(slot);
    if (!pack) return pack.status();
    OperandCopies to;
    to.bytes = pack->info().requiredBytes[VKGEMM_SLOT_D];
    to.stride = rounded_up(to.bytes + 2 * guard, guard);
    auto buffer = device_.createBuffer(to.stride * sets);
    if (!buffer) return buffer.status();
    to.buffer = *std::move(buffer);
    if (Status s = device_.fill(to.buffer, 0, to.buffer.size(), 0xffffffff); !s) return s;
    const auto record = [&](VkCommandBuffer commands) {
        for (size_t set = 0; set < sets; ++set) {
            Run run{.d = to.operand(set)};
            (slot == VKGEMM_SLOT_A ? run.a : run.b) = from.operand(set);
            if (Status s = pack->record(commands, run); !s) return s;
        }
        return Status{};
    };
    if (Status s = device_.submit(record, std::chrono::seconds(is_cpu_ ? 600 : 60)); !s) return s;
    return to;
}

Result<PlanMemory> CaseRunner::memory(const Plan& plan, const OperandSet& slots, size_t sets) const {
    PlanMemory out;
    auto space = workspace(plan);
    if (!space) return space.status();
    out.workspace = *space;
    const VkgemmPlanInfo info = plan.info();
    for (const auto& [slot, key] : {std::pair{VKGEMM_SLOT_A, info.packedA}, {VKGEMM_SLOT_B, info.packedB}}) {
        if (key == VKGEMM_PACKED_NONE) continue;
        auto made = packed(plan, slot, slots[slot], sets);
        if (!made) return made.status();
        out.packed[slot] = *std::move(made);
    }
    return out;
}

Run CaseRunner::run_of(const OperandSet& slots, size_t set, const PlanMemory& memory, double alpha, double beta) const {
    const auto at = [&](VkgemmSlot slot, size_t which) {
        const bool packs = (slot == VKGEMM_SLOT_A || slot == VKGEMM_SLOT_B) && memory.packed[slot].bytes;
        return packs ? memory.packed[slot].operand(which) : slots[slot].operand(which);
    };
    Run run{.a = at(VKGEMM_SLOT_A, set),
            .b = at(VKGEMM_SLOT_B, set),
            .c = at(VKGEMM_SLOT_C, set),
            .d = at(VKGEMM_SLOT_D, set)};
    run.bias = at(VKGEMM_SLOT_BIAS, 0);
    run.scale = at(VKGEMM_SLOT_SCALE, 0);
    run.residual = at(VKGEMM_SLOT_RESIDUAL, 0);
    run.groups = at(VKGEMM_SLOT_GROUPS, 0);
    run.indices = at(VKGEMM_SLOT_INDICES, 0);
    run.scalars = at(VKGEMM_SLOT_SCALARS, 0);
    if (memory.workspace.handle()) run.workspace = memory.workspace.operand();
    run.alpha = alpha;
    run.beta = beta;
    return run;
}

Status CaseRunner::check(const Plan& plan, Measurement& result) {
    if (Status s = prepare_check(); !s) return s;
    const OperandCopies& d = check_slots_->at(VKGEMM_SLOT_D);
    if (!d.bytes) return {};  // an empty product: nothing can be wrong
    const auto besides = memory(plan, *check_slots_, 1);
    if (!besides) return besides.status();
    const Run run = run_of(*check_slots_, 0, *besides, exact_->alpha(), exact_->beta());
    const auto patience = std::chrono::seconds(is_cpu_ ? 600 : 60);
    if (Status s = device_.submit([&](VkCommandBuffer commands) { return plan.record(commands, run); }, patience); !s)
        return s;

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
    const uint32_t word = poison(r_.d.type);
    for (size_t i = 0; i < result_.size(); ++i) {
        if ((i >= guard && i < guard + d.bytes) || result_[i] == static_cast<std::byte>(word >> i % 4 * 8)) continue;
        result.wrong = "memory outside D was written to, " +
                       (i < guard ? std::to_string(guard - i) + " bytes before it"
                                  : std::to_string(i - guard - d.bytes) + " bytes past its end");
        return;
    }
}

host::RecordRun CaseRunner::recorder(const Plan& plan, const PlanMemory& memory) const {
    // In turn through the sets of operands.
    return [this, &plan, memory, next = size_t{0}](VkCommandBuffer commands, uint32_t) mutable {
        return plan.record(commands, run_of(*time_slots_, next++ % sets_, memory, case_.alpha, case_.beta));
    };
}

Status CaseRunner::time(const Plan& plan, Measurement& result, const std::function<void()>& between) {
    if (Status s = prepare_timing(); !s) return s;
    const auto besides = memory(plan, *time_slots_, sets_);
    if (!besides) return besides.status();
    const host::RecordRun record = recorder(plan, *besides);
    const auto patience = std::chrono::seconds(is_cpu_ ? 600 : 60);
    Timing timing(options_, result,
                  [&](size_t runs) { return device_.time(static_cast<uint32_t>(runs), record, patience); });
    if (Status s = timing.rest(between); !s) return s;
    return is_cpu_ ? Status{}
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
    const auto patience = std::chrono::seconds(60);
    return time_in_a_row(
        result, [&](size_t runs) { return device_.timeTogether(static_cast<uint32_t>(runs), record, patience); });
}

Measurement CaseRunner::blank() const {
    Measurement m;
    m.flops = flops(case_);
    m.bytes = least_bytes(case_);
    m.cold = cold_;
    m.sets = sets_;
    return m;
}

Result<Plan> CaseRunner::make_plan(const PlanOptions& kernel, Measurement& result) const {
    if (kernel.kernel) result.kernel = kernel.kernel;
    auto plan = device_.context().createPlan(case_.problem, kernel);
    if (!plan) return plan;
    const VkgemmPlanInfo info = plan->info();
    result.kernel = info.kernel;
    result.tile = info.tile ? info.tile : "";
    result.workspaceBytes = info.requiredBytes[VKGEMM_SLOT_WORKSPACE];
    return plan;
}

Measurement CaseRunner::run(const PlanOptions& kernel, const std::function<void()>& between) {
    Measurement result = blank();
    const auto plan = make_plan(kernel, result);
    if (!plan) {
        result.failure = plan.status();
        return result;
    }
    if (options_.check) result.failure = check(*plan, result);
    if (!result.failure || !result.wrong.empty() || interrupted()) return result;
    result.failure = time(*plan, result, between);
    if (result.failure && options_.check && !interrupted()) result.failure = find_deviation(result);
    return result;
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

Measurement CaseRunner::check_only(const PlanOptions& kernel, size_t runs) {
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
}

Status CaseRunner::time_briefly(const Plan& plan, const PlanMemory& memory, const Trial& trial, Measurement& result) {
    const double give_up_above = trial.give_up_above, settle = trial.seconds / 4;
    const host::RecordRun record = recorder(plan, memory);
    const auto patience = std::chrono::seconds(is_cpu_ ? 600 : 60);
    const auto start = SteadyClock::now();
    const double load = is_cpu_ || warm_ ? 0 : warm_up_seconds;
    double seconds = 0;  // of one run, as far as is known
    load_.reset();
    for (int round = 0; round < 2 || since(start) < load; ++round) {  // the first run may be slower than all others
        const auto runs = round == 0 ? 1 : runs_in(settle, seconds, 1, 256);
        const auto times = device_.time(static_cast<uint32_t>(runs), record, patience);
        if (!times) return times.status();
        seconds = summarise(times->seconds).median;
        result.samples = times->seconds;
        result.clock = times->clock;
        if (interrupted() || seconds > (round == 0 ? 2 : 1) * give_up_above) break;
    }
    warm_ = true;
    if (seconds <= give_up_above && !interrupted()) {
        const size_t wanted = runs_in(trial.seconds, seconds, 3, 200);
        const auto times = device_.time(static_cast<uint32_t>(wanted), record, patience);
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

Measurement CaseRunner::try_out(const PlanOptions& kernel, const Trial& trial) {
    Measurement result = blank();
    auto plan = make_plan(kernel, result);
    if (!plan) {
        result.failure = plan.status();
        return result;
    }
    if (trial.check) result.failure = check(*plan, result);
    if (!result.failure || !result.wrong.empty() || interrupted()) return result;
    result.failure = prepare_timing();
    if (!result.failure) return result;
    const auto besides = memory(*plan, *time_slots_, sets_);
    result.failure = besides ? time_briefly(*plan, *besides, trial, result) : besides.status();
    if (result.failure) keep_busy(*std::move(plan), *besides, result.times.median);
    return result;
}

}  // namespace vkgemm::tool
