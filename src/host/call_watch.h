// SPDX-License-Identifier: MIT
// VKGEMM_CAPTURE=DIR: what Device::submit records of this library is written to a file each.
#pragma once
#include <optional>

#include "host/capture.h"

namespace vkgemm::host::detail {

struct DeviceState;

/// Notes the calls that are recorded on this thread while it lives. Nothing is done where nothing is captured. A
/// submission is captured if it records one call: of several, one may read what another writes. Whatever goes wrong is
/// said to the log and does not disturb the call.
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
    void say(const std::string& text) const;
    Status read(VkgemmSlot slot, uint64_t bytes, std::vector<std::byte>& out) const;
    Status write() const;

    DeviceState& device_;
    CallWatch* outer_ = nullptr;
    size_t calls_ = 0;
    VkgemmRun run_{};
    VkgemmPlanInfo info_{};
    std::optional<Capture> capture_;
};

}  // namespace vkgemm::host::detail
