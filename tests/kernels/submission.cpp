// SPDX-License-Identifier: MIT
#include "kernels/submission.h"

#include <mutex>
#include <string>

namespace vkgemm::test {
namespace {

/// The functions of Vulkan that submissions call.
struct Functions {
    PFN_vkCreateCommandPool create_pool;
    PFN_vkDestroyCommandPool destroy_pool;
    PFN_vkResetCommandPool reset_pool;
    PFN_vkAllocateCommandBuffers allocate;
    PFN_vkBeginCommandBuffer begin;
    PFN_vkEndCommandBuffer end;
    PFN_vkCmdPipelineBarrier barrier;
    PFN_vkCreateFence create_fence;
    PFN_vkDestroyFence destroy_fence;
    PFN_vkResetFences reset_fences;
    PFN_vkWaitForFences wait;
    PFN_vkQueueSubmit submit;

    Functions() {
        const auto get = reinterpret_cast<PFN_vkGetDeviceProcAddr>(
            device().getInstanceProcAddr()(device().instance(), "vkGetDeviceProcAddr"));
        const auto find = [&](auto& function, const char* name) {
            function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(get(device().handle(), name));
        };
        find(create_pool, "vkCreateCommandPool");
        find(destroy_pool, "vkDestroyCommandPool");
        find(reset_pool, "vkResetCommandPool");
        find(allocate, "vkAllocateCommandBuffers");
        find(begin, "vkBeginCommandBuffer");
        find(end, "vkEndCommandBuffer");
        find(barrier, "vkCmdPipelineBarrier");
        find(create_fence, "vkCreateFence");
        find(destroy_fence, "vkDestroyFence");
        find(reset_fences, "vkResetFences");
        find(wait, "vkWaitForFences");
        find(submit, "vkQueueSubmit");
    }
};
const Functions& vk() {
    static const Functions f;
    return f;
}

Status failed(VkResult r, const char* call) {
    return {r == VK_ERROR_DEVICE_LOST ? VKGEMM_ERROR_DEVICE_LOST : VKGEMM_ERROR_VULKAN, r,
            std::string(call) + ": " + (r == VK_ERROR_DEVICE_LOST ? "VK_ERROR_DEVICE_LOST" : std::to_string(r))};
}

class Submission {
   public:
    Submission() = default;
    Submission(const Submission&) = delete;
    Submission& operator=(const Submission&) = delete;
    ~Submission() { clear(); }

    void clear() {
        if (fence_) vk().destroy_fence(device().handle(), fence_, nullptr);
        if (pool_) vk().destroy_pool(device().handle(), pool_, nullptr);
        fence_ = VK_NULL_HANDLE;
        pool_ = VK_NULL_HANDLE;
    }

    Status run(const host::Record& record, std::chrono::nanoseconds timeout) {
        if (Status s = begin(); !s) return s;
        if (Status s = record(commands_); !s) return s;
        if (Status s = submit(); !s) return s;
        const VkResult waited =
            vk().wait(device().handle(), 1, &fence_, VK_TRUE, static_cast<uint64_t>(timeout.count()));
        if (waited == VK_SUCCESS) return {};
        fence_ = VK_NULL_HANDLE;  // the device may still use them
        pool_ = VK_NULL_HANDLE;
        if (waited != VK_TIMEOUT) return failed(waited, "vkWaitForFences");
        return {VKGEMM_ERROR_DEVICE_LOST, VK_TIMEOUT,
                "the device did not finish within " +
                    std::to_string(std::chrono::duration_cast<std::chrono::seconds>(timeout).count()) + " s"};
    }

   private:
    Status begin() {
        const VkDevice handle = device().handle();
        VkResult r = pool_ ? vk().reset_pool(handle, pool_, 0) : make();
        if (r == VK_SUCCESS) r = vk().reset_fences(handle, 1, &fence_);
        VkCommandBufferBeginInfo info{};
        info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
        info.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
        if (r == VK_SUCCESS) r = vk().begin(commands_, &info);
        return r == VK_SUCCESS ? Status{} : failed(r, "the beginning of a command buffer");
    }

    VkResult make() {
        VkCommandPoolCreateInfo pool{};
        pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
        pool.flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT;
        pool.queueFamilyIndex = device().queueFamily();
        VkFenceCreateInfo fence{};
        fence.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
        VkCommandBufferAllocateInfo buffer{};
        buffer.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
        buffer.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
        buffer.commandBufferCount = 1;
        VkResult r = vk().create_pool(device().handle(), &pool, nullptr, &pool_);
        buffer.commandPool = pool_;
        if (r == VK_SUCCESS) r = vk().allocate(device().handle(), &buffer, &commands_);
        if (r == VK_SUCCESS) r = vk().create_fence(device().handle(), &fence, nullptr, &fence_);
        if (r != VK_SUCCESS) clear();
        return r;
    }

    Status submit() {
        VkMemoryBarrier to_host{};
        to_host.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
        to_host.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT;
        to_host.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
        vk().barrier(commands_, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &to_host, 0,
                     nullptr, 0, nullptr);
        if (const VkResult r = vk().end(commands_); r != VK_SUCCESS) return failed(r, "vkEndCommandBuffer");
        VkSubmitInfo info{};
        info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
        info.commandBufferCount = 1;
        info.pCommandBuffers = &commands_;
        static std::mutex queue;
        const std::lock_guard lock(queue);
        const VkResult r = vk().submit(device().queue(), 1, &info, fence_);
        return r == VK_SUCCESS ? Status{} : failed(r, "vkQueueSubmit");
    }

    VkCommandPool pool_ = VK_NULL_HANDLE;
    VkCommandBuffer commands_ = VK_NULL_HANDLE;
    VkFence fence_ = VK_NULL_HANDLE;
};

/// This thread's. It is destroyed when the thread ends, and the first thread's when the device is closed.
Submission& submission() {
    static thread_local Submission own;
    static const bool cleaned = (before_closing([] { submission().clear(); }), true);
    static_cast<void>(cleaned);
    return own;
}

}  // namespace

Status submit_recorded(const host::Record& record, std::chrono::nanoseconds timeout) {
    return submission().run(record, timeout);
}

}  // namespace vkgemm::test
