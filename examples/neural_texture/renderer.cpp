// SPDX-License-Identifier: MIT
#include "renderer.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace renderer {
namespace {

constexpr uint32_t queries = 256;  // timestamps of a frame, at most

}  // namespace

Renderer::Renderer(Gpu& g, const Options& o)
    : options(o),
      gpu(g),
      graph(g),
      network(g, o.settings),
      scene(g, network),
      memory_(g),
      texture_(g, network, memory_, side * side) {
    const VkCommandPoolCreateInfo pool{.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                       .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                       .queueFamilyIndex = gpu.family};
    check(vkCreateCommandPool(gpu.device, &pool, nullptr, &pool_), "vkCreateCommandPool");
    const VkCommandBufferAllocateInfo commands{
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, .commandPool = pool_, .commandBufferCount = 1};
    const VkFenceCreateInfo fence{.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    const VkSemaphoreCreateInfo semaphore{.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    const VkQueryPoolCreateInfo times{
        .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO, .queryType = VK_QUERY_TYPE_TIMESTAMP, .queryCount = queries};
    for (Frame& f : frames_) {
        check(vkAllocateCommandBuffers(gpu.device, &commands, &f.commands), "vkAllocateCommandBuffers");
        check(vkCreateFence(gpu.device, &fence, nullptr, &f.fence), "vkCreateFence");
        check(vkCreateSemaphore(gpu.device, &semaphore, nullptr, &f.acquired), "vkCreateSemaphore");
        check(vkCreateQueryPool(gpu.device, &times, nullptr, &f.queries), "vkCreateQueryPool");
        f.losses = memory_.buffer("losses for the host", network.losses.bytes, true);
        f.counted = memory_.buffer("count for the host", sizeof(Counted), true);
    }
    pictures_ = memory_.buffer("pictures", VkDeviceSize{side} * side * 4 * sizeof(uint32_t));
    pictures_read_ = memory_.buffer("pictures for the host", pictures_.bytes, true);
    std::vector<uint32_t> grid;  // the points of pictures of the texture
    for (uint32_t i = 0; i < side * side; ++i)
        for (const uint32_t at : {i % side, i / side})
            grid.push_back(std::bit_cast<uint32_t>((static_cast<float>(at) + 0.5f) / static_cast<float>(side)));
    graph.part("start");
    graph.write("grid", texture_.points, std::move(grid));
    network.reset(graph);
    scene.resize(o.size);
    now();
}

Renderer::~Renderer() {
    for (const Frame& f : frames_) {
        vkDestroyQueryPool(gpu.device, f.queries, nullptr);
        vkDestroySemaphore(gpu.device, f.acquired, nullptr);
        vkDestroyFence(gpu.device, f.fence, nullptr);
    }
    vkDestroyCommandPool(gpu.device, pool_, nullptr);
}

void Renderer::resize(VkExtent2D size) {
    gpu.wait_idle();
    scene.resize(size);
}

const Finished* Renderer::wait() {
    Frame& f = current();
    if (!std::exchange(f.submitted, false)) return nullptr;
    check(vkWaitForFences(gpu.device, 1, &f.fence, VK_TRUE, UINT64_MAX), "vkWaitForFences");
    Finished& all = f.finished;
    all.times = graph.finish(all.times, f.queries);
    if (all.trained) std::tie(all.loss, all.psnr) = network.mean_loss(f.losses.read<float>());
    if (f.drawn) all.rows = f.counted.read<Counted>()[0].m;
    return &all;
}

uint32_t Renderer::add_frame(uint32_t step, float time, bool minimised) {
    Frame& f = current();
    uint32_t last = std::min(step + options.steps_per_frame, options.steps);
    for (const uint32_t shown : milestones)
        if (step < shown) last = std::min(last, shown);
    f.drawn = !minimised;
    f.finished = {.steps = last, .trained = step < last};
    while (step < last) network.train(graph, step++);
    if (f.finished.trained) graph.read_back("losses", network.losses, f.losses);
    if (f.drawn) {
        scene.draw(graph, time, 0.5f, options.whole_screen);
        graph.read_back("count", scene.counted, f.counted);
    }
    return last;
}

void Renderer::submit(VkSemaphore before, VkSemaphore after) {
    submit(current(), before, after);
    skip();
}

void Renderer::submit(Frame& f, VkSemaphore before, VkSemaphore after) {
    check(vkResetFences(gpu.device, 1, &f.fence), "vkResetFences");
    const VkCommandBufferBeginInfo begin{.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                         .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    check(vkBeginCommandBuffer(f.commands, &begin), "vkBeginCommandBuffer");
    f.finished.times = graph.record(f.commands, f.queries, queries);
    check(vkEndCommandBuffer(f.commands), "vkEndCommandBuffer");
    const VkPipelineStageFlags copies = VK_PIPELINE_STAGE_TRANSFER_BIT;
    const VkSubmitInfo info{.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                            .waitSemaphoreCount = before ? 1u : 0u,
                            .pWaitSemaphores = &before,
                            .pWaitDstStageMask = &copies,
                            .commandBufferCount = 1,
                            .pCommandBuffers = &f.commands,
                            .signalSemaphoreCount = after ? 1u : 0u,
                            .pSignalSemaphores = &after};
    check(lost ? VK_ERROR_DEVICE_LOST : vkQueueSubmit(gpu.queue, 1, &info, f.fence), "vkQueueSubmit");
    f.submitted = true;
}

Times Renderer::now() {
    Frame& f = frames_[in_flight];
    submit(f, VK_NULL_HANDLE, VK_NULL_HANDLE);
    check(vkWaitForFences(gpu.device, 1, &f.fence, VK_TRUE, UINT64_MAX), "vkWaitForFences");
    return graph.finish(f.finished.times, f.queries);
}

Snapshot Renderer::snapshot(uint32_t step) {
    constexpr uint32_t points = side * side;
    graph.part("snapshot");
    texture_.run(graph, nullptr);
    graph.compute("pictures", "picture", {reads(texture_.output), writes(pictures_), reads(texture_.points)},
                  words(points, options.settings.material), {.x = points / 64});
    graph.read_back("pictures", pictures_, pictures_read_);
    now();
    const auto all = pictures_read_.read<uint32_t>();
    const auto picture = [&](size_t i) { return Picture(side, side, all.subspan(i * points, points)); };
    double squares = 0;
    for (const uint32_t word : all.last(points)) squares += static_cast<double>(std::bit_cast<float>(word));
    return {.step = step,
            .psnr = -10 * std::log10(squares / 3 / points),
            .network = picture(0),
            .reference = picture(1),
            .difference = picture(2)};
}

Picture Renderer::screenshot() {
    Arena own(gpu);
    const Buffer pixels = own.buffer("screenshot", scene.screen.bytes, true);
    graph.part("screenshot");
    graph.read_back("screenshot", scene.screen, pixels);
    now();
    Picture picture(scene.extent.width, scene.extent.height, pixels.read<uint32_t>());
    for (uint32_t& p : picture.rgba) p = (p & 0xff00ff00) | (p & 0xff) << 16 | (p >> 16 & 0xff);  // from BGRA
    return picture;
}

}  // namespace renderer
