// SPDX-License-Identifier: MIT
#include "scene.h"

namespace renderer {
namespace {

constexpr uint32_t around = 128, across = 64;  // quads of the torus

}  // namespace

void Scene::resize(Graph& graph, VkExtent2D size) {
    inference_.reset();
    memory_ = std::make_unique<Arena>(gpu_);
    depth_ = memory_->image("depth", VK_FORMAT_D32_SFLOAT, size,
                            VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT | VK_IMAGE_USAGE_SAMPLED_BIT);
    screen = memory_->image("screen", VK_FORMAT_R8G8B8A8_UNORM, size,
                            VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT);
    rows_ = memory_->buffer("rows", VkDeviceSize{size.width} * size.height * sizeof(uint32_t));
    counted = memory_->buffer("counted", sizeof(Counted));
    inference_ = std::make_unique<Inference>(gpu_, network_, *memory_, size.width * size.height);
    graph.forget();
    graph.part("resize");
    graph.pass("new images", {}, [this](VkCommandBuffer commands) { wait_for_all(commands); });
}

/// Everything after it waits for everything before it, and the new images get their layout.
void Scene::wait_for_all(VkCommandBuffer commands) const {
    constexpr VkPipelineStageFlags2 every = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
    constexpr VkAccessFlags2 both = VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT;
    const VkMemoryBarrier2 all{VK_STRUCTURE_TYPE_MEMORY_BARRIER_2, nullptr, every, both, every, both};
    VkImageMemoryBarrier2 depth{VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2, nullptr, every, 0, every, both};
    depth.newLayout = VK_IMAGE_LAYOUT_GENERAL, depth.image = depth_.handle;
    depth.subresourceRange = {VK_IMAGE_ASPECT_DEPTH_BIT, 0, 1, 0, 1};
    VkImageMemoryBarrier2 colour = depth;
    colour.image = screen.handle, colour.subresourceRange.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT;
    const VkImageMemoryBarrier2 images[] = {depth, colour};
    const VkDependencyInfo info{VK_STRUCTURE_TYPE_DEPENDENCY_INFO, nullptr, 0, 1, &all, 0, nullptr, 2, images};
    vkCmdPipelineBarrier2(commands, &info);
}

/// The pipeline that draws the torus into the depth buffer; it has no fragment shader.
VkPipeline Scene::visibility_pipeline() {
    VkPipeline& pipeline = gpu_.pipelines["visibility"];
    if (pipeline) return pipeline;
    VkPipelineShaderStageCreateInfo stage{VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO};
    stage.stage = VK_SHADER_STAGE_VERTEX_BIT, stage.module = gpu_.shader("visibility"), stage.pName = "main";
    const VkPipelineVertexInputStateCreateInfo input{VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
    VkPipelineInputAssemblyStateCreateInfo assembly{VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO};
    assembly.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP;
    VkPipelineViewportStateCreateInfo viewport{VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO};
    viewport.viewportCount = viewport.scissorCount = 1;
    VkPipelineRasterizationStateCreateInfo raster{VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO};
    raster.cullMode = VK_CULL_MODE_BACK_BIT, raster.lineWidth = 1;
    VkPipelineMultisampleStateCreateInfo samples{VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO};
    samples.rasterizationSamples = VK_SAMPLE_COUNT_1_BIT;
    VkPipelineDepthStencilStateCreateInfo depth{VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO};
    depth.depthTestEnable = depth.depthWriteEnable = VK_TRUE, depth.depthCompareOp = VK_COMPARE_OP_GREATER;
    const VkDynamicState later[] = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR};
    const VkPipelineDynamicStateCreateInfo dynamic{VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO, nullptr, 0, 2,
                                                   later};
    VkPipelineRenderingCreateInfo rendering{VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO};
    rendering.depthAttachmentFormat = VK_FORMAT_D32_SFLOAT;
    VkGraphicsPipelineCreateInfo info{VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO, &rendering, 0, 1, &stage};
    info.pVertexInputState = &input, info.pInputAssemblyState = &assembly, info.pViewportState = &viewport;
    info.pRasterizationState = &raster, info.pMultisampleState = &samples, info.pDepthStencilState = &depth;
    info.pDynamicState = &dynamic, info.layout = gpu_.layout;
    check(vkCreateGraphicsPipelines(gpu_.device, VK_NULL_HANDLE, 1, &info, nullptr, &pipeline), "the pipeline");
    vkDestroyShaderModule(gpu_.device, stage.module, nullptr);
    return pipeline;
}

void Scene::draw_visibility(VkCommandBuffer commands, float time) {
    VkRenderingAttachmentInfo depth{VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO};
    depth.imageView = depth_.view, depth.imageLayout = VK_IMAGE_LAYOUT_GENERAL;
    depth.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR, depth.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
    VkRenderingInfo info{VK_STRUCTURE_TYPE_RENDERING_INFO, nullptr, 0, {{0, 0}, screen.size}, 1};
    info.pDepthAttachment = &depth;
    const auto width = static_cast<float>(screen.size.width), height = static_cast<float>(screen.size.height);
    const VkViewport viewport{0, 0, width, height, 0, 1};
    const auto push = words(time, width / height, around, across);
    vkCmdBeginRendering(commands, &info);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, visibility_pipeline());
    vkCmdSetViewport(commands, 0, 1, &viewport);
    vkCmdSetScissor(commands, 0, 1, &info.renderArea);
    vkCmdPushConstants(commands, gpu_.layout, Gpu::stages, 0, 16, push.data());
    vkCmdDraw(commands, 2 * (around + 1), across, 0, 0);
    vkCmdEndRendering(commands);
}

void Scene::draw(Graph& graph, float time, float split, bool whole) {
    constexpr VkPipelineStageFlags2 tests =
        VK_PIPELINE_STAGE_2_EARLY_FRAGMENT_TESTS_BIT | VK_PIPELINE_STAGE_2_LATE_FRAGMENT_TESTS_BIT;
    constexpr VkAccessFlags2 access =
        VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_READ_BIT | VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT;
    const auto [w, h] = screen.size;
    const auto at = static_cast<uint32_t>(split * static_cast<float>(w));
    graph.part("raster");
    graph.pass("visibility", {use(depth_, access, tests)},
               [this, time](VkCommandBuffer commands) { draw_visibility(commands, time); });
    graph.write("no rows yet", counted, counted_rows(0));
    graph.compute("compact", "compact", {writes(inference_->points), writes(rows_), updates(counted), reads(depth_)},
                  words(w, h, at, whole ? 1u : 0u, time), {(w + 15) / 16, (h + 15) / 16});
    graph.part("infer");
    inference_->run(graph, whole ? nullptr : &counted);
    graph.part("shade");
    graph.compute("shade", "shade", {reads(inference_->output), reads(rows_), reads(depth_), writes(screen)},
                  words(w, h, at, network_.settings.material, time), {(w + 7) / 8, (h + 7) / 8});
}

}  // namespace renderer
