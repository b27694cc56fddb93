// SPDX-License-Identifier: MIT
#include "scene.h"

namespace renderer {
namespace {

constexpr uint32_t around = 128, across = 64;  // quads of the torus

}  // namespace

void Scene::resize(vk::Extent2D size) {
    extent = size;
    depth_ = gpu_.depth_image("depth", size);
    screen = gpu_.buffer("screen", VkDeviceSize{size.width} * size.height * sizeof(uint32_t));
    rows_ = gpu_.buffer("rows", screen.bytes);
    counted = gpu_.buffer("counted", sizeof(Counted));
    inference_ = std::make_unique<Inference>(gpu_, network_, size.width * size.height);
}

/// The pipeline that draws the torus into the depth buffer; it has no fragment shader.
vk::Pipeline Scene::visibility_pipeline() {
    const auto [pipeline, is_new] = gpu_.pipelines.try_emplace("visibility", nullptr);
    if (!is_new) return *pipeline->second;
    const vk::raii::ShaderModule code = gpu_.shader("visibility");
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
                                              &depth, nullptr, &dynamic, *gpu_.layout, {}, {}, {}, {}, &rendering);
    pipeline->second = gpu_.device.createGraphicsPipeline(nullptr, info);
    return *pipeline->second;
}

void Scene::draw_visibility(const Graph::Commands& commands, float time) {
    const auto depth = vk::RenderingAttachmentInfo(*depth_.view, vk::ImageLayout::eGeneral)
                           .setLoadOp(vk::AttachmentLoadOp::eClear)
                           .setStoreOp(vk::AttachmentStoreOp::eStore);
    const vk::Rect2D all({}, extent);
    const auto width = static_cast<float>(extent.width), height = static_cast<float>(extent.height);
    commands.beginRendering(vk::RenderingInfo({}, all, 1).setPDepthAttachment(&depth));
    commands.bindPipeline(vk::PipelineBindPoint::eGraphics, visibility_pipeline());
    commands.setViewport(0, vk::Viewport(0, 0, width, height, 0, 1));
    commands.setScissor(0, all);
    commands.pushConstants<uint32_t>(*gpu_.layout, Gpu::stages, 0, words(time, width / height, around, across));
    commands.draw(2 * (around + 1), across, 0, 0);
    commands.endRendering();
}

void Scene::draw(Graph& graph, float time, float split, bool whole) {
    const auto [w, h] = extent;
    const auto at = static_cast<uint32_t>(split * static_cast<float>(w));
    graph.part("raster");
    graph.pass("visibility",
               {use(depth_, Access::eDepthStencilAttachmentRead | Access::eDepthStencilAttachmentWrite,
                    Stage::eEarlyFragmentTests | Stage::eLateFragmentTests)},
               [this, time](const Graph::Commands& commands) { draw_visibility(commands, time); });
    graph.write("no rows yet", counted, counted_rows(0));
    graph.compute("compact", "compact", {writes(inference_->points), writes(rows_), updates(counted), reads(depth_)},
                  words(w, h, at, whole ? 1u : 0u, time), {.x = divide_up(w, 16), .y = divide_up(h, 16)});
    graph.part("infer");
    inference_->run(graph, whole ? nullptr : &counted);
    graph.part("shade");
    graph.compute("shade", "shade", {reads(inference_->output), reads(rows_), writes(screen), reads(depth_)},
                  words(w, h, at, network_.settings.material, time), {.x = divide_up(w, 8), .y = divide_up(h, 8)});
}

}  // namespace renderer
