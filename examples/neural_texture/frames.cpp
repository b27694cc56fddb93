// SPDX-License-Identifier: MIT
#include "frames.h"

#include <cmath>
#include <utility>

namespace renderer {

Frames::Frames(Gpu& gpu, const Network& network) : gpu_(gpu), network_(network), memory_(gpu) {
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
        check(vkCreateQueryPool(gpu.device, &times, nullptr, &f.times), "vkCreateQueryPool");
        f.losses = memory_.buffer("losses for the host", network.losses().bytes, true);
        f.counted = memory_.buffer("count for the host", sizeof(Counted), true);
    }
}

Frames::~Frames() {
    for (const Frame& f : frames_) {
        vkDestroyQueryPool(gpu_.device, f.times, nullptr);
        vkDestroySemaphore(gpu_.device, f.acquired, nullptr);
        vkDestroyFence(gpu_.device, f.fence, nullptr);
        vkDestroyCommandPool(gpu_.device, f.pool, nullptr);
    }
}

bool Frames::begin(const Graph& graph, Finished& finished) {
    const bool ended = collect(graph, current(), finished);
    begin(current());
    return ended;
}

bool Frames::finish(const Graph& graph, Finished& finished) {
    const bool ended = collect(graph, current(), finished);
    next_ = (next_ + 1) % in_flight;
    return ended;
}

bool Frames::collect(const Graph& graph, Frame& f, Finished& finished) const {
    if (!std::exchange(f.submitted, false)) return false;
    check(vkWaitForFences(gpu_.device, 1, &f.fence, VK_TRUE, UINT64_MAX), "vkWaitForFences");
    check(vkResetFences(gpu_.device, 1, &f.fence), "vkResetFences");
    finished = {.steps = f.steps, .trained = f.trained, .times = graph.times(f.times, f.number)};
    if (f.trained) {
        double loss = 0, squares = 0;
        const auto sums = f.losses.read<float>();
        for (size_t i = 0; i + 1 < sums.size(); i += 2)
            loss += static_cast<double>(sums[i]), squares += static_cast<double>(sums[i + 1]);
        finished.loss = loss / network_.settings().batch;
        finished.psnr = -10 * std::log10(squares / 3 / network_.settings().batch);
    }
    if (f.drawn) finished.rows = f.counted.read<Counted>()[0].group.m;
    return true;
}

void Frames::begin(Frame& f) const {
    f.trained = f.drawn = false;
    check(vkResetCommandPool(gpu_.device, f.pool, 0), "vkResetCommandPool");
    const VkCommandBufferBeginInfo info{.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    check(vkBeginCommandBuffer(f.commands, &info), "vkBeginCommandBuffer");
}

void Frames::submit(Graph& graph, VkSemaphore wait, VkSemaphore signal) {
    submit(current(), graph, wait, signal);
    next_ = (next_ + 1) % in_flight;
}

void Frames::submit(Frame& f, Graph& graph, VkSemaphore wait, VkSemaphore signal) {
    f.number = graph.recorded();
    graph.record(f.commands, f.times, queries);
    check(vkEndCommandBuffer(f.commands), "vkEndCommandBuffer");
    const VkCommandBufferSubmitInfo commands{.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
                                             .commandBuffer = f.commands};
    const VkSemaphoreSubmitInfo before{.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
                                       .semaphore = wait,
                                       .stageMask = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT};
    const VkSemaphoreSubmitInfo after{.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
                                      .semaphore = signal,
                                      .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
    const VkSubmitInfo2 info{.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                             .waitSemaphoreInfoCount = wait ? 1u : 0u,
                             .pWaitSemaphoreInfos = &before,
                             .commandBufferInfoCount = 1,
                             .pCommandBufferInfos = &commands,
                             .signalSemaphoreInfoCount = signal ? 1u : 0u,
                             .pSignalSemaphoreInfos = &after};
    check(lost_ ? VK_ERROR_DEVICE_LOST : vkQueueSubmit2(gpu_.queue, 1, &info, f.fence), "vkQueueSubmit2");
    f.submitted = true;
}

Times Frames::now(Graph& graph) {
    Frame& f = frames_[in_flight];
    begin(f);
    submit(f, graph, VK_NULL_HANDLE, VK_NULL_HANDLE);
    check(vkWaitForFences(gpu_.device, 1, &f.fence, VK_TRUE, UINT64_MAX), "vkWaitForFences");
    check(vkResetFences(gpu_.device, 1, &f.fence), "vkResetFences");
    return graph.times(f.times, f.number);
}

}  // namespace renderer
