// SPDX-License-Identifier: MIT
// VKGEMM_CAPTURE=DIR: what Device::submit records of this library is written to a file each.
#pragma once
#include <optional>

#include "host/capture.h"

namespace vkgemm::host::detail {

struct DeviceState;

/// Watches the calls that are recorded on this thread while it exists; does nothing unless calls are captured. A
/// submission is captured only if it records a single call, because one of several may read what another writes. A
/// failure to capture is logged and does not disturb the call.
class CallWatch {
   public:
    explicit CallWatch(DeviceState& device);
    CallWatch(const CallWatch&) = delete;
    CallWatch& operator=(const CallWatch&) = delete;
    ~CallWatch();

    void recorded_all();  // before the submission: reads the operands
    void finished();      // after it: reads the result and writes the file

    /// The VkgemmRecordedFn of a context that captures; `device` is its DeviceState.
    static void recorded(void* device, const char* problem, VkgemmPlan plan, const VkgemmRun* run);

   private:
    void log_warning(const std::string& text) const;
    Status read(VkgemmSlot slot, uint64_t bytes, std::vector<std::byte>& out) const;
    Status write() const;

    DeviceState& device_;
    CallWatch* outer_ = nullptr;
    size_t calls_ = 0;
    VkgemmRun run_{};
    Plan sized_plan_;  // of the run's sizes, if it has its own; what info_ points to
    VkgemmPlanInfo info_{};
    std::optional<Capture> capture_;
};

}  // namespace vkgemm::host::detail
