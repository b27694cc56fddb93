// SPDX-License-Identifier: MIT
// How a product travels: three submissions, which wait for each other on the device and not on the host.
#include "blas/engine.h"

namespace vkgemm::blas {
namespace {

Status failed(VkResult result, const char* function) {
    const bool memory = result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_OUT_OF_HOST_MEMORY;
    return {memory ? VKGEMM_ERROR_OUT_OF_MEMORY : VKGEMM_ERROR_DEVICE_LOST, result,
            std::string(function) + ": VkResult " + std::to_string(result)};
}

}  // namespace

Status Engine::make(Flight& f) const {
    const VkDevice device = device_.handle();
    for (size_t stage = 0; stage < stages; ++stage) {
        if (!f.pools[stage]) {
            const VkCommandPoolCreateInfo info{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO, nullptr,
                                               VK_COMMAND_POOL_CREATE_TRANSIENT_BIT, families_[stage]};
            if (const VkResult r = vk_.vkCreateCommandPool(device, &info, nullptr, &f.pools[stage]); r != VK_SUCCESS)
                return failed(r, "vkCreateCommandPool");
        }
        if (f.commands[stage]) continue;
        const VkCommandBufferAllocateInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, nullptr, f.pools[stage],
                                               VK_COMMAND_BUFFER_LEVEL_PRIMARY, 1};
        if (const VkResult r = vk_.vkAllocateCommandBuffers(device, &info, &f.commands[stage]); r != VK_SUCCESS)
            return failed(r, "vkAllocateCommandBuffers");
    }
    for (VkSemaphore* semaphore : {&f.uploaded, &f.multiplied}) {
        if (*semaphore) continue;
        const VkSemaphoreCreateInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, nullptr, 0};
        if (const VkResult r = vk_.vkCreateSemaphore(device, &info, nullptr, semaphore); r != VK_SUCCESS)
            return failed(r, "vkCreateSemaphore");
    }
    if (traced_ && !f.times) {
        VkQueryPoolCreateInfo info{};
        info.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO;
        info.queryType = VK_QUERY_TYPE_TIMESTAMP, info.queryCount = 2;
        if (const VkResult r = vk_.vkCreateQueryPool(device, &info, nullptr, &f.times); r != VK_SUCCESS)
            return failed(r, "vkCreateQueryPool");
    }
    if (f.fence) return {};
    const VkFenceCreateInfo info{VK_STRUCTURE_TYPE_FENCE_CREATE_INFO, nullptr, 0};
    if (const VkResult r = vk_.vkCreateFence(device, &info, nullptr, &f.fence); r != VK_SUCCESS)
        return failed(r, "vkCreateFence");
    return {};
}

Status Engine::record(Flight& f, const Plan& plan, const Run& run, const std::vector<Copy>& uploads,
                      const Copy* download) const {
    const auto fill = [&](Stage stage, const std::function<Status(VkCommandBuffer)>& commands_of) -> Status {
        const VkCommandBufferBeginInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, nullptr,
                                            VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT, nullptr};
        const VkCommandBuffer commands = f.commands[stage];
        if (const VkResult r = vk_.vkResetCommandPool(device_.handle(), f.pools[stage], 0); r != VK_SUCCESS)
            return failed(r, "vkResetCommandPool");
        if (const VkResult r = vk_.vkBeginCommandBuffer(commands, &info); r != VK_SUCCESS)
            return failed(r, "vkBeginCommandBuffer");
        if (Status s = commands_of(commands); !s) return s;
        const VkResult r = vk_.vkEndCommandBuffer(commands);
        return r == VK_SUCCESS ? Status{} : failed(r, "vkEndCommandBuffer");
    };
    const auto barrier = [&](VkCommandBuffer commands, VkPipelineStageFlags after, VkAccessFlags uses) {
        const VkMemoryBarrier all{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, VK_ACCESS_MEMORY_WRITE_BIT, uses};
        vk_.vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, after, 0, 1, &all, 0, nullptr, 0,
                                 nullptr);
    };
    const auto copy = [&](VkCommandBuffer commands, const Copy& c) {
        const VkBufferCopy region{0, 0, c.bytes};
        vk_.vkCmdCopyBuffer(commands, c.from, c.to, 1, &region);
    };
    if (!uploads.empty()) {
        Status s = fill(up, [&](VkCommandBuffer commands) -> Status {
            for (const Copy& c : uploads) copy(commands, c);
            return {};
        });
        if (!s) return s;
    }
    Status multiplied = fill(multiply, [&](VkCommandBuffer commands) {  // D and the workspace are those of the last one
        const auto stamp = [&](uint32_t index) {
            if (!traced_) return;
            if (index == 0) vk_.vkCmdResetQueryPool(commands, f.times, 0, 2);
            vk_.vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, f.times, index);
        };
        barrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT);
        stamp(0);
        Status recorded = plan.record(commands, run);
        stamp(1);
        return recorded;
    });
    if (!multiplied || !download) return multiplied;
    return fill(down, [&](VkCommandBuffer commands) -> Status {
        copy(commands, *download);
        barrier(commands, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
        return {};
    });
}

Status Engine::submit(Flight& f, bool uploads, bool downloads) const {
    constexpr VkPipelineStageFlags all = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    const auto go = [&](Stage stage, const VkSemaphore* after, const VkSemaphore* signal, VkFence fence) -> Status {
        VkSubmitInfo info{};
        info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
        info.waitSemaphoreCount = after ? 1 : 0, info.pWaitSemaphores = after, info.pWaitDstStageMask = &all;
        info.commandBufferCount = 1, info.pCommandBuffers = &f.commands[stage];
        info.signalSemaphoreCount = signal ? 1 : 0, info.pSignalSemaphores = signal;
        const VkResult r = vk_.vkQueueSubmit(queues_[stage], 1, &info, fence);
        // A semaphore may be left signalled, so the device is not to be used again, whatever it was.
        if (r != VK_SUCCESS) return {VKGEMM_ERROR_DEVICE_LOST, r, "vkQueueSubmit: VkResult " + std::to_string(r)};
        return {};
    };
    if (uploads)
        if (Status s = go(up, nullptr, &f.uploaded, VK_NULL_HANDLE); !s) return s;
    if (Status s = go(multiply, uploads ? &f.uploaded : nullptr, downloads ? &f.multiplied : nullptr,
                      downloads ? VkFence{} : f.fence);
        !s || !downloads)
        return s;
    return go(down, &f.multiplied, nullptr, f.fence);
}

void Engine::reset_spent(bool traced) {
    spent_ = {}, first_tick_ = 0;
    traced_ = traced && info().timestampBits > 0;
    if (!traced_ || seconds_per_tick_ > 0) return;
    const auto properties_of = reinterpret_cast<PFN_vkGetPhysicalDeviceProperties>(
        device_.getInstanceProcAddr()(device_.instance(), "vkGetPhysicalDeviceProperties"));
    VkPhysicalDeviceProperties properties{};
    properties_of(device_.physicalDevice(), &properties);
    seconds_per_tick_ = 1e-9 * static_cast<double>(properties.limits.timestampPeriod);
}

void Engine::read_times(const Flight& f) {
    uint64_t ticks[2] = {};
    if (vk_.vkGetQueryPoolResults(device_.handle(), f.times, 0, 2, sizeof ticks, ticks, sizeof *ticks,
                                  VK_QUERY_RESULT_64_BIT) != VK_SUCCESS)
        return;
    if (first_tick_ == 0) first_tick_ = ticks[0];
    spent_.computing += seconds_per_tick_ * static_cast<double>(ticks[1] - ticks[0]);
    spent_.span = seconds_per_tick_ * static_cast<double>(ticks[1] - first_tick_);
}

}  // namespace vkgemm::blas
