// SPDX-License-Identifier: MIT
#include "frames.h"

#include <cmath>

namespace renderer {

Frames::Frames(Gpu& gpu, Graph& graph, const Network& network)
    : gpu_(gpu), graph_(graph), batch_(network.settings.batch), memory_(gpu) {
    for (Frame& f : frames_) {
        const VkCommandPoolCreateInfo pool{.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                           .queueFamilyIndex = gpu.family};
        check(vkCreateCommandPool(gpu.device, &pool, nullptr, &f.pool), "vkCreateCommandPool");
        const VkCommandBufferAllocateInfo commands{
            .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, .commandPool = f.pool, .commandBufferCount = 1};
        check(vkAllocateCommandBuffers(gpu.device, &commands, &f.commands), "vkAllocateCommandBuffers");
        const VkFenceCreateInfo fence{.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
        check(vkCreateFence(gpu.device, &fence, nullptr, &f.fence), "vkCreateFence");
        const VkSemaphoreCreateInfo semaphore{.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
        check(vkCreateSemaphore(gpu.device, &semaphore, nullptr, &f.acquired), "vkCreateSemaphore");
        const VkQueryPoolCreateInfo times{.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                          .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                          .queryCount = queries};
        check(vkCreateQueryPool(gpu.device, &times, nullptr, &f.queries), "vkCreateQueryPool");
        f.losses = memory_.buffer("losses for the host", network.losses.bytes, true);
        f.counted = memory_.buffer("count for the host", sizeof(Counted), true);
    }
}

Frames::~Frames() {
    for (const Frame& f : frames_) {
        vkDestroyQueryPool(gpu_.device, f.queries, nullptr);
        vkDestroySemaphore(gpu_.device, f.acquired, nullptr);
        vkDestroyFence(gpu_.device, f.fence, nullptr);
        vkDestroyCommandPool(gpu_.device, f.pool, nullptr);
    }
}

bool Frames::wait(Finished& finished) {
    Frame& f = current();
    const bool ended = std::exchange(f.submitted, false);
    if (ended) {
        check(vkWaitForFences(gpu_.device, 1, &f.fence, VK_TRUE, UINT64_MAX), "vkWaitForFences");
        finished = {.steps = f.steps, .trained = f.trained, .times = graph_.finish(f.times, f.queries)};
        double loss = 0, squares = 0;
        const auto sums = f.losses.read<float>();
        for (size_t i = 0; i + 1 < sums.size(); i += 2)
            loss += static_cast<double>(sums[i]), squares += static_cast<double>(sums[i + 1]);
        if (f.trained) finished.loss = loss / batch_, finished.psnr = -10 * std::log10(squares / 3 / batch_);
        if (f.drawn) finished.rows = f.counted.read<Counted>()[0].group.m;
    }
    f.trained = f.drawn = false;
    return ended;
}

void Frames::submit(VkSemaphore before, VkSemaphore after) {
    submit(current(), before, after);
    skip();
}

void Frames::submit(Frame& f, VkSemaphore before, VkSemaphore after) {
    check(vkResetFences(gpu_.device, 1, &f.fence), "vkResetFences");
    check(vkResetCommandPool(gpu_.device, f.pool, 0), "vkResetCommandPool");
    const VkCommandBufferBeginInfo begin{.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                         .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    check(vkBeginCommandBuffer(f.commands, &begin), "vkBeginCommandBuffer");
    f.times = graph_.record(f.commands, f.queries, queries);
    check(vkEndCommandBuffer(f.commands), "vkEndCommandBuffer");
    const VkCommandBufferSubmitInfo commands{.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
                                             .commandBuffer = f.commands};
    const VkSemaphoreSubmitInfo wait{.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
                                     .semaphore = before,
                                     .stageMask = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT};
    const VkSemaphoreSubmitInfo signal{.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
                                       .semaphore = after,
                                       .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
    const VkSubmitInfo2 info{.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                             .waitSemaphoreInfoCount = before ? 1u : 0u,
                             .pWaitSemaphoreInfos = &wait,
                             .commandBufferInfoCount = 1,
                             .pCommandBufferInfos = &commands,
                             .signalSemaphoreInfoCount = after ? 1u : 0u,
                             .pSignalSemaphoreInfos = &signal};
    check(lost ? VK_ERROR_DEVICE_LOST : vkQueueSubmit2(gpu_.queue, 1, &info, f.fence), "vkQueueSubmit2");
    f.submitted = true;
}

Times Frames::now() {
    Frame& f = frames_[in_flight];
    submit(f, VK_NULL_HANDLE, VK_NULL_HANDLE);
    check(vkWaitForFences(gpu_.device, 1, &f.fence, VK_TRUE, UINT64_MAX), "vkWaitForFences");
    return graph_.finish(f.times, f.queries);
}

}  // namespace renderer
