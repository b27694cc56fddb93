// SPDX-License-Identifier: MIT
#include "vkgemm_ggml/passes.h"

#include <algorithm>
#include <vkgemm/rounding.hpp>

namespace vkgemm::ggml {
namespace {

constexpr uint32_t experts_code[] =
#include "experts.inc"
    ;
constexpr uint32_t round_code[] =
#include "round.inc"
    ;

static_assert(sizeof(Experts::Arguments) == 56);  // the last word is not read
static_assert(sizeof(Rounding::Arguments) == 32);

}  // namespace

Experts::Experts(const VkgemmContextInfo& info, bool has_addresses)
    : Pass(info, has_addresses, experts_code, sizeof(Arguments), most_invocations) {}
Rounding::Rounding(const VkgemmContextInfo& info, bool has_addresses)
    : Pass(info, has_addresses, round_code, sizeof(Arguments), most_invocations) {}

Pass::Pass(const VkgemmContextInfo& info, bool has_addresses, std::span<const uint32_t> code, uint32_t argument_bytes,
           uint32_t most_invocations)
    : device_(info.device) {
    VkDevice device = info.device;
    const auto find =
        reinterpret_cast<PFN_vkGetDeviceProcAddr>(info.getInstanceProcAddr(info.instance, "vkGetDeviceProcAddr"));
    const auto getProperties = reinterpret_cast<PFN_vkGetPhysicalDeviceProperties>(
        info.getInstanceProcAddr(info.instance, "vkGetPhysicalDeviceProperties"));
    if (!find || !getProperties || !has_addresses) return;
    VkPhysicalDeviceProperties properties{};
    getProperties(info.physicalDevice, &properties);
    invocations_ = std::min({most_invocations, properties.limits.maxComputeWorkGroupInvocations,
                             properties.limits.maxComputeWorkGroupSize[0]});
    bool found = true;
    const auto get = [&]<class Function>(Function& to, const char* name) {
        to = reinterpret_cast<Function>(find(device, name));
        found = found && to;
    };
    Makers make;
    get(get_buffer_device_address_, "vkGetBufferDeviceAddress");
    get(cmd_bind_pipeline_, "vkCmdBindPipeline");
    get(cmd_push_constants_, "vkCmdPushConstants");
    get(cmd_dispatch_, "vkCmdDispatch");
    get(cmd_pipeline_barrier_, "vkCmdPipelineBarrier");
    get(destroy_pipeline_, "vkDestroyPipeline");
    get(destroy_pipeline_layout_, "vkDestroyPipelineLayout");
    get(make.createShaderModule, "vkCreateShaderModule");
    get(make.destroyShaderModule, "vkDestroyShaderModule");
    get(make.createPipelineLayout, "vkCreatePipelineLayout");
    get(make.createComputePipelines, "vkCreateComputePipelines");
    if (found) make_pipeline(make, code, argument_bytes);
}

void Pass::make_pipeline(const Makers& make, std::span<const uint32_t> code, uint32_t argument_bytes) {
    const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, argument_bytes};
    const VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                               .pNext = nullptr,
                                               .flags = 0,
                                               .setLayoutCount = 0,
                                               .pSetLayouts = nullptr,
                                               .pushConstantRangeCount = 1,
                                               .pPushConstantRanges = &range};
    if (make.createPipelineLayout(device_, &layout, nullptr, &layout_) != VK_SUCCESS) return;
    const VkShaderModuleCreateInfo module = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                             .pNext = nullptr,
                                             .flags = 0,
                                             .codeSize = code.size_bytes(),
                                             .pCode = code.data()};
    VkShaderModule shader = VK_NULL_HANDLE;
    if (make.createShaderModule(device_, &module, nullptr, &shader) != VK_SUCCESS) return;
    const VkSpecializationMapEntry entry = {0, 0, sizeof invocations_};
    const VkSpecializationInfo constants = {
        .mapEntryCount = 1, .pMapEntries = &entry, .dataSize = sizeof invocations_, .pData = &invocations_};
    const VkPipelineShaderStageCreateInfo stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                   .pNext = nullptr,
                                                   .flags = 0,
                                                   .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                                   .module = shader,
                                                   .pName = "main",
                                                   .pSpecializationInfo = &constants};
    const VkComputePipelineCreateInfo pipeline = {.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                                  .pNext = nullptr,
                                                  .flags = 0,
                                                  .stage = stage,
                                                  .layout = layout_,
                                                  .basePipelineHandle = VK_NULL_HANDLE,
                                                  .basePipelineIndex = -1};
    if (make.createComputePipelines(device_, VK_NULL_HANDLE, 1, &pipeline, nullptr, &pipeline_) != VK_SUCCESS)
        pipeline_ = VK_NULL_HANDLE;
    make.destroyShaderModule(device_, shader, nullptr);
}

Pass::~Pass() {
    if (pipeline_) destroy_pipeline_(device_, pipeline_, nullptr);
    if (layout_) destroy_pipeline_layout_(device_, layout_, nullptr);
}

VkDeviceAddress Pass::address_of(VkBuffer buffer) const {
    const VkBufferDeviceAddressInfo info = {VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, nullptr, buffer};
    return get_buffer_device_address_(device_, &info);
}

void Pass::record(VkCommandBuffer commands, const void* arguments, uint32_t bytes, uint32_t x, uint32_t y) const {
    cmd_bind_pipeline_(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline_);
    cmd_push_constants_(commands, layout_, VK_SHADER_STAGE_COMPUTE_BIT, 0, bytes, arguments);
    cmd_dispatch_(commands, x, y, 1);
}

void Pass::record_barrier(VkCommandBuffer commands) const {
    const VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                     .pNext = nullptr,
                                     .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                                     .dstAccessMask = VK_ACCESS_SHADER_READ_BIT};
    cmd_pipeline_barrier_(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1,
                          &barrier, 0, nullptr, 0, nullptr);
}

void Experts::record(VkCommandBuffer commands, const Arguments& arguments) const {
    Pass::record(commands, &arguments, sizeof arguments, 1, 1);
}

void Rounding::record(VkCommandBuffer commands, const Arguments& arguments, uint32_t rows) const {
    Pass::record(commands, &arguments, sizeof arguments, divUp(arguments.fours, invocations()), rows);
}

}  // namespace vkgemm::ggml
