// SPDX-License-Identifier: MIT
#include "measure/compute_pipeline.h"

#include <volk.h>

namespace vkgemm::tool {
namespace {

Status failed(VkResult result, const char* call) {
    const VkgemmResult code = result == VK_ERROR_DEVICE_LOST ? VKGEMM_ERROR_DEVICE_LOST
                              : result == VK_ERROR_OUT_OF_HOST_MEMORY || result == VK_ERROR_OUT_OF_DEVICE_MEMORY
                                  ? VKGEMM_ERROR_OUT_OF_MEMORY
                                  : VKGEMM_ERROR_VULKAN;
    return {code, result, std::string(call) + " failed with VkResult " + std::to_string(result)};
}

}  // namespace

struct ComputePipeline::Objects {
    VolkDeviceTable vk{};
    PipelineInfo info;
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
    Status make_pipeline();
    Status make_set();
};

Status ComputePipeline::Objects::make_layouts() {
    std::vector<VkDescriptorSetLayoutBinding> bindings(info.bindings);
    for (uint32_t i = 0; i < info.bindings; ++i)
        bindings[i] = {i, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr};
    VkDescriptorSetLayoutCreateInfo set_info{};
    set_info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO;
    set_info.bindingCount = info.bindings;
    set_info.pBindings = bindings.data();
    if (const VkResult r = vk.vkCreateDescriptorSetLayout(device, &set_info, nullptr, &set_layout); r != VK_SUCCESS)
        return failed(r, "vkCreateDescriptorSetLayout");
    const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, info.push_bytes};
    VkPipelineLayoutCreateInfo layout_info{};
    layout_info.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
    layout_info.setLayoutCount = 1;
    layout_info.pSetLayouts = &set_layout;
    layout_info.pushConstantRangeCount = info.push_bytes ? 1 : 0;
    layout_info.pPushConstantRanges = &range;
    if (const VkResult r = vk.vkCreatePipelineLayout(device, &layout_info, nullptr, &layout); r != VK_SUCCESS)
        return failed(r, "vkCreatePipelineLayout");
    return {};
}

Status ComputePipeline::Objects::make_pipeline() {
    VkShaderModuleCreateInfo module_info{};
    module_info.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
    module_info.codeSize = info.code.size_bytes();
    module_info.pCode = info.code.data();
    if (const VkResult r = vk.vkCreateShaderModule(device, &module_info, nullptr, &module); r != VK_SUCCESS)
        return failed(r, "vkCreateShaderModule");
    std::vector<uint32_t> values;
    std::vector<VkSpecializationMapEntry> entries;
    for (const auto& [id, value] : info.constants) {
        entries.push_back({id, static_cast<uint32_t>(values.size()) * 4, 4});
        values.push_back(value);
    }
    const VkSpecializationInfo specialization = {.mapEntryCount = static_cast<uint32_t>(entries.size()),
                                                 .pMapEntries = entries.data(),
                                                 .dataSize = values.size() * 4,
                                                 .pData = values.data()};
    VkPipelineShaderStageRequiredSubgroupSizeCreateInfo subgroup{};
    subgroup.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO;
    subgroup.requiredSubgroupSize = info.subgroup_size;
    VkComputePipelineCreateInfo pipeline_info{};
    pipeline_info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
    pipeline_info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    pipeline_info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    pipeline_info.stage.module = module;
    pipeline_info.stage.pName = "main";
    pipeline_info.stage.pSpecializationInfo = &specialization;
    if (info.subgroup_size) pipeline_info.stage.pNext = &subgroup;
    if (info.full_subgroups) pipeline_info.stage.flags = VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT;
    pipeline_info.layout = layout;
    if (info.sliced) pipeline_info.flags = VK_PIPELINE_CREATE_DISPATCH_BASE_BIT;
    if (const VkResult r = vk.vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &pipeline_info, nullptr, &pipeline);
        r != VK_SUCCESS)
        return failed(r, "vkCreateComputePipelines");
    return {};
}

Status ComputePipeline::Objects::make_set() {
    const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, info.bindings};
    VkDescriptorPoolCreateInfo pool_info{};
    pool_info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
    pool_info.maxSets = 1;
    pool_info.poolSizeCount = 1;
    pool_info.pPoolSizes = &size;
    if (const VkResult r = vk.vkCreateDescriptorPool(device, &pool_info, nullptr, &pool); r != VK_SUCCESS)
        return failed(r, "vkCreateDescriptorPool");
    VkDescriptorSetAllocateInfo allocate{};
    allocate.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO;
    allocate.descriptorPool = pool;
    allocate.descriptorSetCount = 1;
    allocate.pSetLayouts = &set_layout;
    if (const VkResult r = vk.vkAllocateDescriptorSets(device, &allocate, &set); r != VK_SUCCESS)
        return failed(r, "vkAllocateDescriptorSets");
    return {};
}

Result<ComputePipeline> ComputePipeline::make(const host::Device& device, const PipelineInfo& info) {
    ComputePipeline made;
    made.objects_ = std::make_shared<Objects>();
    Objects& o = *made.objects_;
    o.info = info;
    o.device = device.handle();
    volkLoadDeviceTable(&o.vk, o.device);
    if (Status s = o.make_layouts(); !s) return s;
    if (Status s = o.make_pipeline(); !s) return s;
    if (Status s = o.make_set(); !s) return s;
    return made;
}

Status ComputePipeline::bind(std::span<const VkBuffer> buffers) {
    const uint32_t count = objects_->info.bindings;
    std::vector<VkDescriptorBufferInfo> infos(count);
    std::vector<VkWriteDescriptorSet> writes(count);
    for (uint32_t i = 0; i < count; ++i) {
        if (i >= buffers.size() || !buffers[i])
            return {VKGEMM_ERROR_OPERAND, VK_SUCCESS, "binding " + std::to_string(i) + " has no buffer"};
        infos[i] = {buffers[i], 0, VK_WHOLE_SIZE};
        writes[i].sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
        writes[i].dstSet = objects_->set;
        writes[i].dstBinding = i;
        writes[i].descriptorCount = 1;
        writes[i].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
        writes[i].pBufferInfo = &infos[i];
    }
    objects_->vk.vkUpdateDescriptorSets(objects_->device, count, writes.data(), 0, nullptr);
    return {};
}

Status ComputePipeline::record(VkCommandBuffer commands, std::span<const std::byte> push, const Groups& groups) const {
    const VolkDeviceTable& vk = objects_->vk;
    vk.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, objects_->pipeline);
    vk.vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, objects_->layout, 0, 1, &objects_->set, 0,
                               nullptr);
    if (!push.empty())
        vk.vkCmdPushConstants(commands, objects_->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                              static_cast<uint32_t>(push.size()), push.data());
    if (objects_->info.sliced)
        vk.vkCmdDispatchBase(commands, groups.first_x, groups.first_y, 0, groups.x, groups.y, 1);
    else
        vk.vkCmdDispatch(commands, groups.x, groups.y, 1);
    return {};
}

}  // namespace vkgemm::tool
