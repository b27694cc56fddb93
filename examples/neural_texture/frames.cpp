// SPDX-License-Identifier: MIT
#include "frames.h"

#include <tuple>

namespace renderer {

Frames::Frames(Gpu& gpu, Graph& graph, const Network& network)
    : gpu_(gpu), graph_(graph), network_(network), memory_(gpu) {
    const VkCommandPoolCreateInfo pool{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO, nullptr, 0, gpu.family};
    const VkFenceCreateInfo fence{VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    const VkSemaphoreCreateInfo semaphore{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    const VkQueryPoolCreateInfo times{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO, nullptr, 0, VK_QUERY_TYPE_TIMESTAMP,
                                      queries};
    for (Frame& f : frames_) {
        check(vkCreateCommandPool(gpu.device, &pool, nullptr, &f.pool), "vkCreateCommandPool");
        const VkCommandBufferAllocateInfo commands{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, nullptr, f.pool,
                                                   VK_COMMAND_BUFFER_LEVEL_PRIMARY, 1};
        check(vkAllocateCommandBuffers(gpu.device, &commands, &f.commands), "vkAllocateCommandBuffers");
        check(vkCreateFence(gpu.device, &fence, nullptr, &f.fence), "vkCreateFence");
        check(vkCreateSemaphore(gpu.device, &semaphore, nullptr, &f.acquired), "vkCreateSemaphore");
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
        if (f.trained) std::tie(finished.loss, finished.psnr) = network_.mean_loss(f.losses.read<float>());
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
    const VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, nullptr,
                                         VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    check(vkBeginCommandBuffer(f.commands, &begin), "vkBeginCommandBuffer");
    f.times = graph_.record(f.commands, f.queries, queries);
    check(vkEndCommandBuffer(f.commands), "vkEndCommandBuffer");
    const VkCommandBufferSubmitInfo commands{VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO, nullptr, f.commands};
    const auto semaphore = [](VkSemaphore of, VkPipelineStageFlags2 stage) {
        return VkSemaphoreSubmitInfo{VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO, nullptr, of, 0, stage};
    };
    const VkSemaphoreSubmitInfo wait = semaphore(before, VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT);
    const VkSemaphoreSubmitInfo signal = semaphore(after, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT);
    const VkSubmitInfo2 info{
        VK_STRUCTURE_TYPE_SUBMIT_INFO_2, nullptr, 0, before ? 1u : 0u, &wait, 1, &commands, after ? 1u : 0u, &signal};
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
