// SPDX-License-Identifier: MIT
#include "tools/vkgemm/trace/trace_pipeline.h"

#include <volk.h>

namespace vkgemm::tool {
namespace {

constexpr uint32_t binding_count = BIND_COUNT + 1;

Status failed(VkResult result, const char* call) {
    const VkgemmResult code = result == VK_ERROR_DEVICE_LOST ? VKGEMM_ERROR_DEVICE_LOST
                              : result == VK_ERROR_OUT_OF_HOST_MEMORY || result == VK_ERROR_OUT_OF_DEVICE_MEMORY
                                  ? VKGEMM_ERROR_OUT_OF_MEMORY
                                  : VKGEMM_ERROR_VULKAN;
    return {code, result, std::string(call) + " failed with VkResult " + std::to_string(result)};
}

}  // namespace

struct TracePipeline::Objects {
    VolkDeviceTable vk{};
    VkDevice device = VK_NULL_HANDLE;
    VkDescriptorSetLayout set_layout = VK_NULL_HANDLE;
    VkPipelineLayout layout = VK_NULL_HANDLE;
    VkShaderModule module = VK_NULL_HANDLE;
    VkPipeline pipeline = VK_NULL_HANDLE;
    VkDescriptorPool pool = VK_NULL_HANDLE;
    VkDescriptorSet set = VK_NULL_HANDLE;

    Objects() = default;
    Objects(const Objects&) = delete;
    Objects& operator=(const Objects&) = delete;
    ~Objects() {
        vk.vkDestroyDescriptorPool(device, pool, nullptr);
        vk.vkDestroyPipeline(device, pipeline, nullptr);
        vk.vkDestroyShaderModule(device, module, nullptr);
        vk.vkDestroyPipelineLayout(device, layout, nullptr);
        vk.vkDestroyDescriptorSetLayout(device, set_layout, nullptr);
    }
    Status make_layouts();
    Status make_pipeline(const plan::DeviceCaps& caps, const plan::Step& step, std::span<const uint32_t> code);
    Status make_set();
};

Status TracePipeline::Objects::make_layouts() {
    std::array<VkDescriptorSetLayoutBinding, binding_count> bindings{};
    for (uint32_t i = 0; i < binding_count; ++i)
        bindings[i] = {i, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr};
    VkDescriptorSetLayoutCreateInfo set_info{};
    set_info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO;
    set_info.bindingCount = binding_count, set_info.pBindings = bindings.data();
    if (const VkResult r = vk.vkCreateDescriptorSetLayout(device, &set_info, nullptr, &set_layout); r != VK_SUCCESS)
        return failed(r, "vkCreateDescriptorSetLayout");
    const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(abi::GemmArgs)};
    VkPipelineLayoutCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
    info.setLayoutCount = 1, info.pSetLayouts = &set_layout;
    info.pushConstantRangeCount = 1, info.pPushConstantRanges = &range;
    if (const VkResult r = vk.vkCreatePipelineLayout(device, &info, nullptr, &layout); r != VK_SUCCESS)
        return failed(r, "vkCreatePipelineLayout");
    return {};
}

Status TracePipeline::Objects::make_pipeline(const plan::DeviceCaps& caps, const plan::Step& step,
                                             std::span<const uint32_t> code) {
    VkShaderModuleCreateInfo module_info{};
    module_info.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
    module_info.codeSize = code.size_bytes(), module_info.pCode = code.data();
    if (const VkResult r = vk.vkCreateShaderModule(device, &module_info, nullptr, &module); r != VK_SUCCESS)
        return failed(r, "vkCreateShaderModule");
    const std::vector<uint32_t> values = plan::constant_values(step);
    std::vector<VkSpecializationMapEntry> entries;
    for (uint32_t i = 0; i < values.size(); ++i) entries.push_back({plan::constant_ids[i], i * 4, 4});
    const VkSpecializationInfo specialization = {static_cast<uint32_t>(entries.size()), entries.data(),
                                                 values.size() * 4, values.data()};
    VkPipelineShaderStageRequiredSubgroupSizeCreateInfo subgroup{};
    subgroup.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO;
    subgroup.requiredSubgroupSize = step.tile.SG;
    VkComputePipelineCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
    info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.module = module, info.stage.pName = "main", info.stage.pSpecializationInfo = &specialization;
    if (step.tile.SG && caps.subgroup_required) info.stage.pNext = &subgroup;
    if (step.tile.SG && (caps.features & plan::need::full_subgroups))
        info.stage.flags = VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT;
    info.layout = layout;
    if (const VkResult r = vk.vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &info, nullptr, &pipeline);
        r != VK_SUCCESS)
        return failed(r, "vkCreateComputePipelines of a traced module");
    return {};
}

Status TracePipeline::Objects::make_set() {
    const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, binding_count};
    VkDescriptorPoolCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
    info.maxSets = 1, info.poolSizeCount = 1, info.pPoolSizes = &size;
    if (const VkResult r = vk.vkCreateDescriptorPool(device, &info, nullptr, &pool); r != VK_SUCCESS)
        return failed(r, "vkCreateDescriptorPool");
    VkDescriptorSetAllocateInfo allocate{};
    allocate.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO;
    allocate.descriptorPool = pool, allocate.descriptorSetCount = 1, allocate.pSetLayouts = &set_layout;
    if (const VkResult r = vk.vkAllocateDescriptorSets(device, &allocate, &set); r != VK_SUCCESS)
        return failed(r, "vkAllocateDescriptorSets");
    return {};
}

Result<TracePipeline> TracePipeline::make(const host::Device& device, const plan::DeviceCaps& caps,
                                          const plan::Step& step, std::span<const uint32_t> code) {
    TracePipeline made;
    made.objects_ = std::make_shared<Objects>();
    Objects& o = *made.objects_;
    o.device = device.handle();
    volkLoadDeviceTable(&o.vk, o.device);
    if (Status s = o.make_layouts(); !s) return s;
    if (Status s = o.make_pipeline(caps, step, code); !s) return s;
    if (Status s = o.make_set(); !s) return s;
    return made;
}

Status TracePipeline::bind(const std::array<VkBuffer, BIND_COUNT + 1>& buffers) {
    std::array<VkDescriptorBufferInfo, binding_count> infos{};
    std::array<VkWriteDescriptorSet, binding_count> writes{};
    for (uint32_t i = 0; i < binding_count; ++i) {
        if (!buffers[i]) return {VKGEMM_ERROR_OPERAND, VK_SUCCESS, "binding " + std::to_string(i) + " has no buffer"};
        infos[i] = {buffers[i], 0, VK_WHOLE_SIZE};
        writes[i].sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
        writes[i].dstSet = objects_->set, writes[i].dstBinding = i, writes[i].descriptorCount = 1;
        writes[i].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, writes[i].pBufferInfo = &infos[i];
    }
    objects_->vk.vkUpdateDescriptorSets(objects_->device, binding_count, writes.data(), 0, nullptr);
    return {};
}

Status TracePipeline::record(VkCommandBuffer commands, const plan::Step& step) const {
    const VolkDeviceTable& vk = objects_->vk;
    vk.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, objects_->pipeline);
    vk.vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, objects_->layout, 0, 1, &objects_->set, 0,
                               nullptr);
    vk.vkCmdPushConstants(commands, objects_->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof step.args, &step.args);
    vk.vkCmdDispatch(commands, step.groups_x, step.groups_y, 1);
    return {};
}

}  // namespace vkgemm::tool
