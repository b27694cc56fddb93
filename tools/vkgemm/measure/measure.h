// SPDX-License-Identifier: MIT
// One case on one device: checked, then timed, with one kernel after another.
#pragma once
#include <array>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "measure/background_load.h"
#include "measure/case_memory.h"
#include "measure/slices.h"
#include "measure/timing.h"
#include "measure/verify.h"
#include "vkgemm/host.hpp"

namespace vkgemm::tool {

/// One operand of a case in one or more copies, each between guards of poison.
struct OperandCopies {
    static constexpr VkDeviceSize guard = 1024;  // bytes
    host::Buffer buffer;
    VkDeviceSize bytes = 0, stride = 0;
    Operand operand(size_t copy) const { return bytes ? buffer.operand(guard + copy * stride, bytes) : Operand{}; }
};
using OperandSet = std::array<OperandCopies, VKGEMM_SLOT_COUNT>;             // by VkgemmSlot
using OperandBytes = std::array<std::vector<std::byte>, VKGEMM_SLOT_COUNT>;  // by VkgemmSlot; empty: not used

/// What a plan takes besides the operands of its case: a workspace, and A and B where they come packed.
struct PlanMemory {
    host::Buffer workspace;
    std::array<OperandCopies, 2> packed;  // by VkgemmSlot; empty: not packed
};

/// Options of try_out().
struct Trial {
    bool check = true;
    double seconds = 0.04;  // of timed runs
    double give_up_above =
        std::numeric_limits<double>::infinity();  // seconds of a run, above which it is not worth timing
};

class CaseRunner {
   public:
    CaseRunner(const host::Device& device, const Case& c, const MeasureOptions& options);

    /// Checks, then times. Data is uploaded once for all kernels of the case. If interrupted(), the samples so far are
    /// kept. `between` is called between parts of the timing; others may use the device there.
    Measurement run(const PlanOptions& kernel, const Alternating& others = {});
    /// Does what run() needs of the host, so that it can be done while the device is used for another case: compiles,
    /// and makes the bytes of the operands. What fails is tried again by run(), which says why. Does nothing if the
    /// host's memory is not enough for this case and the `beside` bytes that the other may still take.
    void prepare(const PlanOptions& kernel, uint64_t beside);
    uint64_t needed_memory() const;  // bytes of the host
    /// Other work will keep the device busy until run() begins to time, so that its clocks are up.
    void device_is_warm() { warm_ = true; }
    /// Checks `runs` times, with D poisoned before each run, and times nothing. Ends at the first wrong run; times.runs
    /// is the number of runs.
    Measurement check_only(const PlanOptions& kernel, size_t runs);
    Measurement blank() const;  // without results

    /// The same for one of many candidates: a few runs say enough, and one or two of a slow one. Only the
    /// first trial warms up at length; from then on a GPU is kept at work while the host prepares, checks and compares.
    Measurement try_out(const PlanOptions& kernel, const Trial& trial);

    std::chrono::seconds patience() const { return std::chrono::seconds(is_cpu_ ? 600 : 60); }
    size_t sets() const { return sets_; }  // of operands that are used in turn
    const Case& given() const { return case_; }
    const MeasureOptions& options() const { return options_; }

    /// For others that compute the case: its operands, for checking or for timing, and the expected result of a check.
    const ExactCase& exact();
    const OperandBytes& operands(bool for_check);
    /// The extent of the check that found these bytes right as D; null: no check did.
    const std::string* known_right(std::span<const std::byte> d) const;

   private:
    static constexpr VkDeviceSize guard = OperandCopies::guard;

    const MatrixInfo* matrix(VkgemmSlot slot) const;
    bool uses(VkgemmSlot slot) const;
    std::vector<std::byte> random_bytes(VkgemmSlot slot) const;
    Status fill_slot(OperandCopies& slot, const std::vector<std::byte>& bytes, size_t sets, uint32_t poison) const;
    MemoryUse memory_use() const;
    Status refused_memory();
    Measurement out_of_memory() const;
    Status prepare_check();  // if interrupted(), not all is there
    Status prepare_timing();
    Result<Plan> make_plan(const PlanOptions& kernel, Measurement& result);
    Status check(const Plan& plan, Measurement& result);
    std::optional<std::string> wrong_scalars();  // of the run that was downloaded
    void find_wrong(const OperandCopies& d, Measurement& result) const;
    Status time(const Plan& plan, Measurement& result, const Alternating& others);
    Status in_a_row(const Plan& plan, const PlanMemory& memory, Measurement& result) const;
    Status find_deviation(Measurement& result);
    Status time_briefly(const Plan& plan, const PlanMemory& memory, const Trial& trial, Measurement& result);
    Result<host::Buffer> workspace(const Plan& plan) const;
    Result<OperandCopies> packed(const Plan& plan, VkgemmSlot slot, const OperandCopies& from, size_t sets) const;
    /// `sets` copies of `slots` are packed, where the plan wants that.
    Result<PlanMemory> memory(const Plan& plan, const OperandSet& slots, size_t sets) const;
    /// Runs in turn through the sets of operands. `memory` must stay.
    std::function<Run()> timed_runs(const PlanMemory& memory) const;
    host::RecordRun recorder(const Plan& plan, const PlanMemory& memory) const;
    Result<host::Times> time_runs(const Plan& plan, size_t runs, const std::function<Run()>& next) const;
    Status run_checked(const Plan& plan, const Run& run) const;
    void phase(const std::string& text) const;
    void keep_busy(Plan plan, const PlanMemory& memory, double seconds);
    Run run_of(const OperandSet& slots, size_t set, const PlanMemory& memory, double alpha, double beta) const;

    const host::Device& device_;
    Case case_;
    MeasureOptions options_;
    Resolved r_;
    MatrixInfo residual_;
    bool is_cpu_, cold_ = false;
    size_t sets_ = 1;
    VkDeviceSize set_bytes_ = 0;
    std::optional<ExactCase> exact_;
    std::optional<OperandBytes> check_bytes_, time_bytes_;
    std::optional<Plan> prepared_;  // keeps its pipelines with the context
    std::optional<OperandSet> check_slots_, time_slots_;
    std::vector<std::byte> result_, right_;  // D with its guards: as it came, and as it was when it was found right
    std::string extent_;                     // of the check that found it so
    std::optional<Status> too_large_;        // for this machine's memory; not set: not asked yet
    bool sliced_ = false;                    // runs of the plan that was made last
    bool warm_ = false;                      // a trial has run, or other work
    std::optional<Plan> busy_plan_;          // what keeps a GPU at work: the first trial's
    PlanMemory busy_memory_;
    uint32_t busy_runs_ = 0;
    std::optional<BackgroundLoad> load_;  // last: gone before what it uses
};

}  // namespace vkgemm::tool
