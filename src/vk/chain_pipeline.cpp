// SPDX-License-Identifier: MIT
// The pipeline of a chain that is one dispatch, which belongs to the chain.
#include <algorithm>
#include <cstddef>

#include "plan/base/concat.h"
#include "spirv/unpack.h"
#include "vk/chain.h"

namespace vkgemm::vk {
namespace {

using plan::Refusal;
using plan::Result;

// The size of work groups as a number. SPIR-V 1.6 has it as a specialization constant (LocalSizeId), for which a device
// must have maintenance4 enabled.
void set_local_size(std::vector<uint32_t>& spirv, uint32_t invocations) {
    constexpr uint32_t header_words = 5, op_execution_mode = 16, op_execution_mode_id = 331;
    constexpr uint32_t local_size = 17, local_size_id = 38, words = 6;
    for (size_t at = header_words; at + words <= spirv.size(); at += std::max(spirv[at] >> 16, 1u)) {
        if (spirv[at] != (words << 16 | op_execution_mode_id) || spirv[at + 2] != local_size_id) continue;
        spirv[at] = words << 16 | op_execution_mode;
        spirv[at + 2] = local_size;
        spirv[at + 3] = invocations;
        spirv[at + 4] = spirv[at + 5] = 1;
        return;
    }
}

Result<VkShaderModule> make_module(const Device& d, const plan::FusedChain& fused) {
    const plan::ChainModule& m = *fused.module;
    auto code =
        spirv::unpack({m.embedded.words, m.embedded.count}, spirv::Variant::descriptors, plan::Module::packed_base());
    if (!code)
        return Refusal{VKGEMM_ERROR_UNSUPPORTED, plan::concat({"the SPIR-V of ", m.name,
                                                               " in this library is damaged; build or install vkgemm "
                                                               "again"})};
    set_local_size(*code, fused.invocations);
    VkShaderModuleCreateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
    info.codeSize = code->size() * 4;
    info.pCode = code->data();
    VkShaderModule module = VK_NULL_HANDLE;
    const VkResult r = d.functions.CreateShaderModule(d.handle, &info, d.allocator, &module);
    if (r != VK_SUCCESS) return vulkan_refusal(r, "vkCreateShaderModule");
    return module;
}

std::optional<Status> make_layout(VkgemmChain_T& chain) {
    const Device& d = chain.context->device;
    const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, CHAIN_ARGUMENT_WORDS * 4};
    VkPipelineLayoutCreateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
    info.pushConstantRangeCount = 1;
    info.pPushConstantRanges = &range;
    const VkResult r = d.functions.CreatePipelineLayout(d.handle, &info, d.allocator, &chain.layout);
    if (r != VK_SUCCESS) return vulkan_refusal(r, "vkCreatePipelineLayout");
    set_name(d, VK_OBJECT_TYPE_PIPELINE_LAYOUT, chain.layout, "vkgemm chain");
    return std::nullopt;
}

VkResult make_pipeline(VkgemmChain_T& chain, VkShaderModule module) {
    const Device& d = chain.context->device;
    const plan::FusedChain& fused = *chain.plan.fused;
    std::vector<VkSpecializationMapEntry> entries;
    for (const plan::FusedChain::Constant& c : fused.constants)
        entries.push_back(
            {c.id, static_cast<uint32_t>(entries.size() * sizeof c + offsetof(plan::FusedChain::Constant, value)),
             sizeof c.value});
    const VkSpecializationInfo specialization = {
        .mapEntryCount = static_cast<uint32_t>(entries.size()),
        .pMapEntries = entries.data(),
        .dataSize = fused.constants.size() * sizeof(plan::FusedChain::Constant),
        .pData = fused.constants.data()};
    VkPipelineShaderStageRequiredSubgroupSizeCreateInfo subgroup = {
        VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO, nullptr, fused.subgroup};
    VkComputePipelineCreateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
    if (chain.flags & VKGEMM_PLAN_CAPTURE_STATISTICS)
        info.flags =
            VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR | VK_PIPELINE_CREATE_CAPTURE_INTERNAL_REPRESENTATIONS_BIT_KHR;
    info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    info.stage.flags = VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT;
    if (d.requires_subgroups) info.stage.pNext = &subgroup;
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.module = module;
    info.stage.pName = "main";
    info.stage.pSpecializationInfo = &specialization;
    info.layout = chain.layout;
    return d.functions.CreateComputePipelines(d.handle, d.cache_externally_synchronized ? VK_NULL_HANDLE : d.cache, 1,
                                              &info, d.allocator, &chain.pipeline);
}

}  // namespace

std::optional<Status> compile_chain(VkgemmChain_T& chain) {
    const Device& d = chain.context->device;
    const plan::ChainModule& m = *chain.plan.fused->module;
    const Result<VkShaderModule> module = make_module(d, *chain.plan.fused);
    if (!module) return module.status();
    auto why = make_layout(chain);
    if (!why) {
        const VkResult r = make_pipeline(chain, *module);
        if (r != VK_SUCCESS) why = vulkan_refusal(r, plan::concat({"vkCreateComputePipelines for ", m.name}));
    }
    d.functions.DestroyShaderModule(d.handle, *module, d.allocator);
    if (!why) set_name(d, VK_OBJECT_TYPE_PIPELINE, chain.pipeline, plan::concat({"vkgemm ", m.name}).c_str());
    return why;
}

}  // namespace vkgemm::vk

VkgemmChain_T::~VkgemmChain_T() {
    if (!context) return;
    const vkgemm::vk::Device& d = context->device;
    d.functions.DestroyPipeline(d.handle, pipeline, d.allocator);
    d.functions.DestroyPipelineLayout(d.handle, layout, d.allocator);
}
