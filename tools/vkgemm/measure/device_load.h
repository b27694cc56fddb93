// SPDX-License-Identifier: MIT
// A product that is large enough to raise a GPU's clocks, and small enough to be over soon.
#pragma once
#include <optional>

#include "measure/background_load.h"
#include "measure/operand_pool.h"

namespace vkgemm::tool {

class DeviceLoad {
   public:
    /// None on a CPU, and where this build has no kernel for it. `pool` has its operands.
    static std::optional<DeviceLoad> make(const host::Device& device, OperandPool& pool);

    Status record(VkCommandBuffer commands, size_t run) const { return plan_.record(commands, operands_.run(run)); }
    /// How many runs take so long together.
    uint32_t runs_in(double seconds) const;

   private:
    DeviceLoad(Plan plan, PooledOperands operands) : plan_(std::move(plan)), operands_(std::move(operands)) {}

    Plan plan_;
    PooledOperands operands_;
    double seconds_ = 0;  // of a run
};

/// A GPU that is at work whenever nothing is timed, so that its clocks stay up.
class BusyDevice {
   public:
    explicit BusyDevice(const host::Device& device)
        : device_(device), pool_(device), load_(DeviceLoad::make(device, pool_)) {}

    bool can_be_busy() const { return load_.has_value(); }
    void work();
    void rest() { working_.reset(); }  // returns when the last of the work is done

   private:
    const host::Device& device_;
    OperandPool pool_;
    std::optional<DeviceLoad> load_;
    std::optional<BackgroundLoad> working_;  // last: gone before what it uses
};

}  // namespace vkgemm::tool
