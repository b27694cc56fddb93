// SPDX-License-Identifier: MIT
// VKGEMM_CAPTURE=DIR: what Device::submit records of this library is written to a file each.
#pragma once
#include "host/capture.h"

namespace vkgemm::host::detail {

struct DeviceState;

/// Watches the calls that are recorded on this thread while it exists; does nothing unless calls are captured. A
/// submission is captured only if it records a single call, because one of several may read what another writes. Each
/// product of a chain is a call, and a chain that is one dispatch is one that is not captured. A failure to capture is
/// logged and does not disturb the call.
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
    Status read_operands();
    Status read(const VkgemmRunAccess&, std::span<std::byte> out) const;
    Status describe(std::span<const std::byte> result, std::string& out) const;
    Status write(const std::string& text) const;

    DeviceState& device_;
    CallWatch* outer_ = nullptr;
    size_t calls_ = 0;           // packs too, whose results other runs read
    bool is_chain_ = false;      // one of them is a chain of one dispatch
    VkgemmPlan plan_ = nullptr;  // of the run that is captured; null: none
    VkgemmRun run_{};
    std::vector<CapturedOperand> operands_;
    VkgemmRunAccess d_{};
};

}  // namespace vkgemm::host::detail
