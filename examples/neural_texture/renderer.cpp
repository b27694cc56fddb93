// SPDX-License-Identifier: MIT
#include "renderer.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace renderer {
namespace {

constexpr uint32_t around = 128, across = 64;  // quads of the torus

/// The pipeline that draws the torus into the depth buffer; it has no fragment shader.
vk::raii::Pipeline visibility_pipeline(const Gpu& gpu) {
    const vk::raii::ShaderModule code = gpu.shader("visibility");
    const vk::PipelineShaderStageCreateInfo stage({}, vk::ShaderStageFlagBits::eVertex, *code, "main");
    const vk::PipelineVertexInputStateCreateInfo input;
    const vk::PipelineInputAssemblyStateCreateInfo assembly({}, vk::PrimitiveTopology::eTriangleStrip);
    const auto viewport = vk::PipelineViewportStateCreateInfo().setViewportCount(1).setScissorCount(1);
    const auto raster =
        vk::PipelineRasterizationStateCreateInfo().setCullMode(vk::CullModeFlagBits::eBack).setLineWidth(1);
    const vk::PipelineMultisampleStateCreateInfo samples({}, vk::SampleCountFlagBits::e1);
    const vk::PipelineDepthStencilStateCreateInfo depth({}, true, true, vk::CompareOp::eGreater);
    const std::array later = {vk::DynamicState::eViewport, vk::DynamicState::eScissor};
    const vk::PipelineDynamicStateCreateInfo dynamic({}, later);
    const auto rendering = vk::PipelineRenderingCreateInfo().setDepthAttachmentFormat(vk::Format::eD32Sfloat);
    const vk::GraphicsPipelineCreateInfo info({}, stage, &input, &assembly, nullptr, &viewport, &raster, &samples,
                                              &depth, nullptr, &dynamic, *gpu.layout, {}, {}, {}, {}, &rendering);
    return gpu.device.createGraphicsPipeline(nullptr, info);
}

}  // namespace

Renderer::Renderer(Gpu& g, const Options& o)
    : options(o),
      gpu(g),
      graph(g),
      network(g, o.settings),
      of_texture_(g, network, side * side),
      pool_(g.device, {vk::CommandPoolCreateFlagBits::eResetCommandBuffer, g.family}) {
    for (Frame& f : frames_) {
        f.commands = std::move(gpu.device.allocateCommandBuffers({*pool_, vk::CommandBufferLevel::ePrimary, 1})[0]);
        f.fence = gpu.device.createFence({});
        f.acquired = gpu.device.createSemaphore({});
        f.queries = gpu.device.createQueryPool({{}, vk::QueryType::eTimestamp, Graph::most_times});
        f.losses = gpu.buffer("losses for the host", network.losses.bytes, true);
        f.counted = gpu.buffer("count for the host", sizeof(Counted), true);
    }
    pictures_ = gpu.buffer("pictures", VkDeviceSize{side} * side * 4 * sizeof(uint32_t));
    pictures_read_ = gpu.buffer("pictures for the host", pictures_.bytes, true);
    graph.part("start");
    network.reset(graph);
    resize(o.size);
    now();
}

void Renderer::resize(vk::Extent2D size) {
    gpu.finish();
    extent = size;
    depth_ = gpu.depth_image("depth", size);
    screen = gpu.buffer("screen", VkDeviceSize{size.width} * size.height * sizeof(uint32_t));
    rows_ = gpu.buffer("rows", screen.bytes);
    counted = gpu.buffer("counted", sizeof(Counted));
    of_screen_ = std::make_unique<Inference>(gpu, network, size.width * size.height);
}

void Renderer::draw_visibility(const Graph::Commands& commands, float time) {
    if (!*visibility_) visibility_ = visibility_pipeline(gpu);
    const auto depth = vk::RenderingAttachmentInfo(depth_.view, vk::ImageLayout::eGeneral)
                           .setLoadOp(vk::AttachmentLoadOp::eClear)
                           .setStoreOp(vk::AttachmentStoreOp::eStore);
    const vk::Rect2D all({}, extent);
    const auto width = static_cast<float>(extent.width), height = static_cast<float>(extent.height);
    commands.beginRendering(vk::RenderingInfo({}, all, 1).setPDepthAttachment(&depth));
    commands.bindPipeline(vk::PipelineBindPoint::eGraphics, *visibility_);
    commands.setViewport(0, vk::Viewport(0, 0, width, height, 0, 1));
    commands.setScissor(0, all);
    commands.pushConstants<uint32_t>(*gpu.layout, Gpu::stages, 0, words(time, width / height, around, across));
    commands.draw(2 * (around + 1), across, 0, 0);
    commands.endRendering();
}

void Renderer::draw(float time, float split, bool whole) {
    const auto [w, h] = extent;
    const auto at = static_cast<uint32_t>(split * static_cast<float>(w));
    graph.part("raster");
    graph.pass("visibility",
               {{depth_, Access::eDepthStencilAttachmentRead | Access::eDepthStencilAttachmentWrite,
                 Stage::eEarlyFragmentTests | Stage::eLateFragmentTests}},
               [this, time](const Graph::Commands& commands) { draw_visibility(commands, time); });
    graph.write("no rows yet", counted, counted_rows(0));
    graph.compute("compact", {writes(of_screen_->points), writes(rows_), updates(counted), reads(depth_)},
                  words(w, h, at, whole ? 1u : 0u, time), {.x = divide_up(w, 16), .y = divide_up(h, 16)});
    graph.part("infer");
    of_screen_->run(graph, counted);
    graph.part("shade");
    graph.compute("shade", {reads(of_screen_->output), reads(rows_), writes(screen), reads(depth_)},
                  words(w, h, at, options.settings.material, time), {.x = divide_up(w, 8), .y = divide_up(h, 8)});
}

void Renderer::wait_for(const Frame& f) const {
    if (lost == lose_in_wait) throw vk::DeviceLostError("waitForFences");
    // Without a limit, because a frame on a busy CPU takes minutes; a GPU that hangs is lost, which throws.
    (void)gpu.device.waitForFences(*f.fence, true, UINT64_MAX);
}

const Finished* Renderer::wait() {
    Frame& f = current();
    if (!std::exchange(f.submitted, false)) return nullptr;
    wait_for(f);
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
        draw(time, 0.5f, options.whole_screen);
        graph.read_back("count", counted, f.counted);
    }
    return last;
}

void Renderer::submit(vk::Semaphore before, vk::Semaphore after) {
    submit(current(), before, after);
    skip();
}

void Renderer::submit(Frame& f, vk::Semaphore before, vk::Semaphore after) {
    gpu.device.resetFences(*f.fence);
    f.commands.begin({vk::CommandBufferUsageFlagBits::eOneTimeSubmit});
    f.finished.times = graph.record(f.commands, f.queries);
    f.commands.end();
    if (lost == lose) throw vk::DeviceLostError("submit");
    const vk::PipelineStageFlags copies = vk::PipelineStageFlagBits::eTransfer;
    vk::SubmitInfo info({}, {}, *f.commands);
    if (before) info.setWaitSemaphores(before).setWaitDstStageMask(copies);
    if (after) info.setSignalSemaphores(after);
    gpu.queue.submit(info, *f.fence);
    f.submitted = true;
}

Times Renderer::now() {
    Frame& f = frames_[in_flight];
    submit(f, {}, {});
    wait_for(f);
    return graph.finish(f.finished.times, f.queries);
}

std::pair<Snapshot::Part, double> Renderer::texture(float first, float size) {
    constexpr uint32_t points = side * side;
    std::vector<float> grid;
    for (uint32_t i = 0; i < points; ++i)
        for (const uint32_t at : {i % side, i / side})
            grid.push_back(first + (static_cast<float>(at) + 0.5f) * size / side);
    graph.part("snapshot");
    graph.write("grid", of_texture_.points, std::move(grid));
    graph.write("all rows", counted, counted_rows(points));
    of_texture_.run(graph, counted);
    graph.compute("picture", {reads(of_texture_.output), writes(pictures_), reads(of_texture_.points)},
                  words(points, options.settings.material), {.x = points / 64});
    graph.read_back("pictures", pictures_, pictures_read_);
    now();
    const auto all = pictures_read_.read<uint32_t>();
    const auto picture = [&](uint32_t i) {
        return Picture{side, side, {all.begin() + i * points, all.begin() + (i + 1) * points}};
    };
    double squares = 0;
    for (const uint32_t word : all.last(points)) squares += static_cast<double>(std::bit_cast<float>(word));
    return {{picture(0), picture(1), picture(2)}, -10 * std::log10(squares / 3 / points)};
}

Snapshot Renderer::snapshot(uint32_t step) {
    const auto [whole, psnr] = texture(0, 1);
    return {.step = step, .psnr = psnr, .whole = whole, .detail = texture(0.3f, 0.2f).first};
}

Picture Renderer::screenshot() {
    const Resource pixels = gpu.buffer("screenshot", screen.bytes, true);
    graph.part("screenshot");
    graph.read_back("screenshot", screen, pixels);
    now();
    const auto all = pixels.read<uint32_t>();
    Picture picture{extent.width, extent.height, {all.begin(), all.end()}};
    for (uint32_t& p : picture.rgba) p = (p & 0xff00ff00) | (p & 0xff) << 16 | (p >> 16 & 0xff);  // from BGRA
    return picture;
}

}  // namespace renderer
