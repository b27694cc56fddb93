// SPDX-License-Identifier: MIT
#include "blas/in_order.h"

#include <algorithm>

#include "blas/failed.h"

namespace vkgemm::blas {
namespace {

constexpr uint64_t in_order_wait_limit = 60'000'000'000;  // ns

}  // namespace

InOrder::~InOrder() {
    for (const Slot& s : slots_) {
        if (s.pool) vk_.vkDestroyCommandPool(device_.handle(), s.pool, nullptr);
        if (s.fence) vk_.vkDestroyFence(device_.handle(), s.fence, nullptr);
    }
}

Status InOrder::load() {
    const auto find = reinterpret_cast<PFN_vkGetDeviceProcAddr>(
        device_.getInstanceProcAddr()(device_.instance(), "vkGetDeviceProcAddr"));
    bool all = find != nullptr;
#define X(name) all = all && (vk_.name = reinterpret_cast<PFN_##name>(find(device_.handle(), #name))) != nullptr;
    VKGEMM_IN_ORDER_FUNCTIONS(X)
#undef X
    return all ? Status{}
               : Status{VKGEMM_ERROR_MISSING_FUNCTION, VK_SUCCESS, "the driver lacks a function of Vulkan 1.0"};
}

Status InOrder::make(Slot& s) const {
    const VkDevice device = device_.handle();
    if (!s.pool) {
        const VkCommandPoolCreateInfo info{.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                           .pNext = nullptr,
                                           .flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT,
                                           .queueFamilyIndex = device_.queueFamily()};
        if (const VkResult r = vk_.vkCreateCommandPool(device, &info, nullptr, &s.pool); r != VK_SUCCESS)
            return failed(r, "vkCreateCommandPool");
    }
    if (!s.buffer) {
        const VkCommandBufferAllocateInfo info{.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                               .pNext = nullptr,
                                               .commandPool = s.pool,
                                               .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                               .commandBufferCount = 1};
        if (const VkResult r = vk_.vkAllocateCommandBuffers(device, &info, &s.buffer); r != VK_SUCCESS)
            return failed(r, "vkAllocateCommandBuffers");
    }
    if (s.fence) return {};
    const VkFenceCreateInfo info{VK_STRUCTURE_TYPE_FENCE_CREATE_INFO, nullptr, 0};
    const VkResult r = vk_.vkCreateFence(device, &info, nullptr, &s.fence);
    return r == VK_SUCCESS ? Status{} : failed(r, "vkCreateFence");
}

Result<uint64_t> InOrder::submit(const std::function<Status(VkCommandBuffer)>& commands) {
    if (submitted_ >= slots_.size())
        if (Status s = wait(submitted_ - slots_.size() + 1); !s) return s;
    Slot& slot = slots_[submitted_ % slots_.size()];
    if (Status s = make(slot); !s) return s;
    const VkCommandBufferBeginInfo begin{.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                         .pNext = nullptr,
                                         .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
                                         .pInheritanceInfo = nullptr};
    if (const VkResult r = vk_.vkResetCommandPool(device_.handle(), slot.pool, 0); r != VK_SUCCESS)
        return failed(r, "vkResetCommandPool");
    if (const VkResult r = vk_.vkBeginCommandBuffer(slot.buffer, &begin); r != VK_SUCCESS)
        return failed(r, "vkBeginCommandBuffer");
    barrier(slot.buffer);
    if (Status s = commands(slot.buffer); !s) return s;
    const VkMemoryBarrier to_host{.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                  .pNext = nullptr,
                                  .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
                                  .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    vk_.vkCmdPipelineBarrier(slot.buffer, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                             &to_host, 0, nullptr, 0, nullptr);
    if (const VkResult r = vk_.vkEndCommandBuffer(slot.buffer); r != VK_SUCCESS) return failed(r, "vkEndCommandBuffer");
    VkSubmitInfo info{};
    info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    info.commandBufferCount = 1;
    info.pCommandBuffers = &slot.buffer;
    if (const VkResult r = vk_.vkQueueSubmit(device_.queue(), 1, &info, slot.fence); r != VK_SUCCESS)
        return failed(r, "vkQueueSubmit");
    return ++submitted_;
}

Status InOrder::wait(uint64_t number) {
    for (; done_ < number; ++done_) {
        const VkFence fence = slots_[done_ % slots_.size()].fence;
        if (const VkResult r = vk_.vkWaitForFences(device_.handle(), 1, &fence, VK_TRUE, in_order_wait_limit);
            r != VK_SUCCESS)
            return {VKGEMM_ERROR_DEVICE_LOST, r, "vkWaitForFences: VkResult " + std::to_string(r)};
        if (const VkResult r = vk_.vkResetFences(device_.handle(), 1, &fence); r != VK_SUCCESS)
            return {VKGEMM_ERROR_DEVICE_LOST, r, "vkResetFences: VkResult " + std::to_string(r)};
    }
    return {};
}

void InOrder::copy(VkCommandBuffer commands, VkBuffer from, VkBuffer to, std::span<const VkBufferCopy> regions) const {
    if (!regions.empty())
        vk_.vkCmdCopyBuffer(commands, from, to, static_cast<uint32_t>(regions.size()), regions.data());
}

void InOrder::barrier(VkCommandBuffer commands) const {
    const VkMemoryBarrier all{.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                              .pNext = nullptr,
                              .srcAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
                              .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT};
    vk_.vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 1,
                             &all, 0, nullptr, 0, nullptr);
}

}  // namespace vkgemm::blas
