// SPDX-License-Identifier: MIT
// Submissions to the device's first queue that run one after the other.
#pragma once
#include <array>
#include <functional>
#include <vkgemm/host.hpp>

namespace vkgemm::blas {

/// The functions of Vulkan that it uses.
#define VKGEMM_IN_ORDER_FUNCTIONS(X) \
    X(vkCmdCopyBuffer)               \
    X(vkCmdPipelineBarrier)          \
    X(vkCreateCommandPool)           \
    X(vkDestroyCommandPool)          \
    X(vkAllocateCommandBuffers)      \
    X(vkResetCommandPool)            \
    X(vkBeginCommandBuffer)          \
    X(vkEndCommandBuffer)            \
    X(vkCreateFence)                 \
    X(vkDestroyFence)                \
    X(vkResetFences)                 \
    X(vkWaitForFences)               \
    X(vkQueueSubmit)

/// One thread at a time may use it. A failed wait or submission leaves the device unusable.
class InOrder {
   public:
    explicit InOrder(const host::Device& device) : device_(device) {}
    InOrder(const InOrder&) = delete;
    InOrder& operator=(const InOrder&) = delete;
    ~InOrder();  // finish() must have succeeded, or nothing been submitted

    Status load();
    /// Records and submits. Commands see what earlier submissions wrote; what they write is visible to the host after
    /// wait() of the number that is returned.
    Result<uint64_t> submit(const std::function<Status(VkCommandBuffer)>& commands);
    Status wait(uint64_t number);
    Status finish() { return wait(submitted_); }

    void copy(VkCommandBuffer commands, VkBuffer from, VkBuffer to, std::span<const VkBufferCopy> regions) const;
    /// What follows sees what was written before.
    void barrier(VkCommandBuffer commands) const;

   private:
    struct Slot {
        VkCommandPool pool = VK_NULL_HANDLE;
        VkCommandBuffer buffer = VK_NULL_HANDLE;
        VkFence fence = VK_NULL_HANDLE;
    };
    struct Functions {
#define X(name) PFN_##name name = nullptr;
        VKGEMM_IN_ORDER_FUNCTIONS(X)
#undef X
    };
    Status make(Slot& slot) const;

    const host::Device& device_;
    Functions vk_{};
    std::array<Slot, 8> slots_{};  // of the submissions with the same remainder
    uint64_t submitted_ = 0, done_ = 0;
};

}  // namespace vkgemm::blas
