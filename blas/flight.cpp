// SPDX-License-Identifier: MIT
// How a product travels: submissions that wait for each other on the device and not on the host, and what they take.
#include <algorithm>
#include <vector>

#include "blas/engine.h"
#include "blas/failed.h"

namespace vkgemm::blas {
namespace {

/// Numbers in [-1, 1) with random digits: zeros take less power to multiply, and so less time.
template <class R>
std::vector<R> random_numbers(uint64_t bytes) {
    std::vector<R> numbers(bytes / sizeof(R));
    uint64_t state = 1;
    for (R& x : numbers) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        x = static_cast<R>(static_cast<int32_t>(state >> 32)) * R(0x1p-31);
    }
    return numbers;
}

}  // namespace

Status Engine::make(Commands& c, Stage stage) const {
    const VkDevice device = device_.handle();
    if (!c.pool) {
        const VkCommandPoolCreateInfo info{.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                           .pNext = nullptr,
                                           .flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT,
                                           .queueFamilyIndex = families_[stage]};
        if (const VkResult r = vk_.vkCreateCommandPool(device, &info, nullptr, &c.pool); r != VK_SUCCESS)
            return failed(r, "vkCreateCommandPool");
    }
    if (c.buffer) return {};
    const VkCommandBufferAllocateInfo info{.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                           .pNext = nullptr,
                                           .commandPool = c.pool,
                                           .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                           .commandBufferCount = 1};
    const VkResult r = vk_.vkAllocateCommandBuffers(device, &info, &c.buffer);
    return r == VK_SUCCESS ? Status{} : failed(r, "vkAllocateCommandBuffers");
}

Status Engine::make(VkFence& fence) const {
    if (fence) return {};
    const VkFenceCreateInfo info{VK_STRUCTURE_TYPE_FENCE_CREATE_INFO, nullptr, 0};
    const VkResult r = vk_.vkCreateFence(device_.handle(), &info, nullptr, &fence);
    return r == VK_SUCCESS ? Status{} : failed(r, "vkCreateFence");
}

Status Engine::make(Flight& f) const {
    const VkDevice device = device_.handle();
    for (const Stage stage : {multiply, down})
        if (Status s = make(f.commands[stage], stage); !s) return s;
    for (VkSemaphore* semaphore : {&f.uploaded, &f.multiplied}) {
        if (*semaphore) continue;
        const VkSemaphoreCreateInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, nullptr, 0};
        if (const VkResult r = vk_.vkCreateSemaphore(device, &info, nullptr, semaphore); r != VK_SUCCESS)
            return failed(r, "vkCreateSemaphore");
    }
    if (traced_ && !f.times) {
        VkQueryPoolCreateInfo info{};
        info.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO;
        info.queryType = VK_QUERY_TYPE_TIMESTAMP;
        info.queryCount = 2;
        if (const VkResult r = vk_.vkCreateQueryPool(device, &info, nullptr, &f.times); r != VK_SUCCESS)
            return failed(r, "vkCreateQueryPool");
    }
    return make(f.fence);
}

Status Engine::record(const Commands& to, const std::function<Status(VkCommandBuffer)>& commands) const {
    const VkCommandBufferBeginInfo info{.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                        .pNext = nullptr,
                                        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
                                        .pInheritanceInfo = nullptr};
    if (const VkResult r = vk_.vkResetCommandPool(device_.handle(), to.pool, 0); r != VK_SUCCESS)
        return failed(r, "vkResetCommandPool");
    if (const VkResult r = vk_.vkBeginCommandBuffer(to.buffer, &info); r != VK_SUCCESS)
        return failed(r, "vkBeginCommandBuffer");
    if (Status s = commands(to.buffer); !s) return s;
    const VkResult r = vk_.vkEndCommandBuffer(to.buffer);
    return r == VK_SUCCESS ? Status{} : failed(r, "vkEndCommandBuffer");
}

void Engine::copy(VkCommandBuffer commands, const Copy& c) const {
    const VkBufferCopy region{0, c.offset, c.bytes};
    vk_.vkCmdCopyBuffer(commands, c.from, c.to, 1, &region);
}

Status Engine::record(Flight& f, const Plan& plan, const Run& run, const Copy* download) const {
    const auto barrier = [&](VkCommandBuffer commands, VkPipelineStageFlags after, VkAccessFlags uses) {
        const VkMemoryBarrier all{.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                  .pNext = nullptr,
                                  .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
                                  .dstAccessMask = uses};
        vk_.vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, after, 0, 1, &all, 0, nullptr, 0,
                                 nullptr);
    };
    Status multiplied = record(f.commands[multiply], [&](VkCommandBuffer commands) {
        const auto stamp = [&](uint32_t index) {
            if (!traced_) return;
            if (index == 0) vk_.vkCmdResetQueryPool(commands, f.times, 0, 2);
            vk_.vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, f.times, index);
        };
        // D and the workspace are those of the last one.
        barrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT);
        stamp(0);
        Status recorded = plan.record(commands, run);
        stamp(1);
        return recorded;
    });
    if (!multiplied || !download) return multiplied;
    return record(f.commands[down], [&](VkCommandBuffer commands) -> Status {
        copy(commands, *download);
        barrier(commands, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
        return {};
    });
}

Status Engine::submit(Stage stage, const Commands& commands, VkSemaphore after, VkSemaphore signal,
                      VkFence fence) const {
    constexpr VkPipelineStageFlags all = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    VkSubmitInfo info{};
    info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    info.waitSemaphoreCount = after ? 1 : 0;
    info.pWaitSemaphores = &after;
    info.pWaitDstStageMask = &all;
    info.commandBufferCount = 1;
    info.pCommandBuffers = &commands.buffer;
    info.signalSemaphoreCount = signal ? 1 : 0;
    info.pSignalSemaphores = &signal;
    const VkResult r = vk_.vkQueueSubmit(queues_[stage], 1, &info, fence);
    // A semaphore may be left signalled, so the device is not to be used again, whatever it was.
    if (r != VK_SUCCESS) return {VKGEMM_ERROR_DEVICE_LOST, r, "vkQueueSubmit: VkResult " + std::to_string(r)};
    return {};
}

void Engine::reset_spent(bool traced) {
    spent_ = {};
    first_tick_ = 0;
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

Result<double> Engine::time(const TileProduct& p) {
    const auto planned = plan_for(p);
    if (!planned) return planned.status();
    const Plan& plan = (*planned)->plan;
    const VkgemmPlanInfo info = plan.info();
    host::Buffer buffers[4];
    const VkgemmSlot slots[] = {VKGEMM_SLOT_A, VKGEMM_SLOT_B, VKGEMM_SLOT_D, VKGEMM_SLOT_WORKSPACE};
    for (size_t i = 0; i < 4; ++i)
        if (const uint64_t bytes = info.requiredBytes[slots[i]])
            if (Status s = reserve(buffers[i], bytes, host::Memory::device); !s) return s;
    for (const host::Buffer* operand : {&buffers[0], &buffers[1]})
        if (Status s = p.type == f64 ? device_.upload(*operand, random_numbers<double>(operand->size()))
                                     : device_.upload(*operand, random_numbers<float>(operand->size()));
            !s)
            return s;
    const Run run{.a = buffers[0].operand(),
                  .b = buffers[1].operand(),
                  .d = buffers[2].operand(),
                  .workspace = buffers[3].operand()};
    const auto times = device_.time(3, [&](VkCommandBuffer commands, uint32_t) { return plan.record(commands, run); });
    if (!times) return times.status();
    return *std::ranges::min_element(times->seconds);
}

}  // namespace vkgemm::blas
