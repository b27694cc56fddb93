// SPDX-License-Identifier: MIT
#include "scene.h"

namespace renderer {
namespace {

constexpr uint32_t around = 128, across = 64;  // quads of the torus

}  // namespace

void Scene::resize(VkExtent2D size) {
    inference_.reset();
    memory_ = std::make_unique<Arena>(gpu_);
    extent = size;
    depth_ = memory_->depth_image("depth", size);
    screen = memory_->buffer("screen", VkDeviceSize{size.width} * size.height * sizeof(uint32_t));
    rows_ = memory_->buffer("rows", screen.bytes);
    counted = memory_->buffer("counted", sizeof(Counted));
    inference_ = std::make_unique<Inference>(gpu_, network_, *memory_, size.width * size.height);
}

/// The pipeline that draws the torus into the depth buffer; it has no fragment shader.
VkPipeline Scene::visibility_pipeline() {
    VkPipeline& pipeline = gpu_.pipelines["visibility"];
    if (pipeline) return pipeline;
    const VkPipelineShaderStageCreateInfo stage{.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                .stage = VK_SHADER_STAGE_VERTEX_BIT,
                                                .module = gpu_.shader("visibility"),
                                                .pName = "main"};
    const VkPipelineVertexInputStateCreateInfo input{.sType =
                                                         VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
    const VkPipelineInputAssemblyStateCreateInfo assembly{
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP};
    const VkPipelineViewportStateCreateInfo viewport{
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO, .viewportCount = 1, .scissorCount = 1};
    const VkPipelineRasterizationStateCreateInfo raster{
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO,
        .cullMode = VK_CULL_MODE_BACK_BIT,
        .lineWidth = 1};
    const VkPipelineMultisampleStateCreateInfo samples{
        .sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
        .rasterizationSamples = VK_SAMPLE_COUNT_1_BIT};
    const VkPipelineDepthStencilStateCreateInfo depth{
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO,
        .depthTestEnable = VK_TRUE,
        .depthWriteEnable = VK_TRUE,
        .depthCompareOp = VK_COMPARE_OP_GREATER};
    const VkDynamicState later[] = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR};
    const VkPipelineDynamicStateCreateInfo dynamic{
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO, .dynamicStateCount = 2, .pDynamicStates = later};
    const VkPipelineRenderingCreateInfo rendering{.sType = VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO,
                                                  .depthAttachmentFormat = VK_FORMAT_D32_SFLOAT};
    const VkGraphicsPipelineCreateInfo info{.sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
                                            .pNext = &rendering,
                                            .stageCount = 1,
                                            .pStages = &stage,
                                            .pVertexInputState = &input,
                                            .pInputAssemblyState = &assembly,
                                            .pViewportState = &viewport,
                                            .pRasterizationState = &raster,
                                            .pMultisampleState = &samples,
                                            .pDepthStencilState = &depth,
                                            .pDynamicState = &dynamic,
                                            .layout = gpu_.layout};
    check(vkCreateGraphicsPipelines(gpu_.device, VK_NULL_HANDLE, 1, &info, nullptr, &pipeline), "the pipeline");
    vkDestroyShaderModule(gpu_.device, stage.module, nullptr);
    return pipeline;
}

void Scene::draw_visibility(VkCommandBuffer commands, float time) {
    const VkRenderingAttachmentInfo depth{.sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
                                          .imageView = depth_.view,
                                          .imageLayout = VK_IMAGE_LAYOUT_GENERAL,
                                          .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
                                          .storeOp = VK_ATTACHMENT_STORE_OP_STORE};
    const VkRenderingInfo info{.sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
                               .renderArea = {.extent = extent},
                               .layerCount = 1,
                               .pDepthAttachment = &depth};
    const auto width = static_cast<float>(extent.width), height = static_cast<float>(extent.height);
    const VkViewport viewport{.width = width, .height = height, .maxDepth = 1};
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
    const auto [w, h] = extent;
    const auto at = static_cast<uint32_t>(split * static_cast<float>(w));
    graph.part("raster");
    graph.pass("visibility", {use(depth_, access, tests)},
               [this, time](VkCommandBuffer commands) { draw_visibility(commands, time); });
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
