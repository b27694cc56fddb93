// SPDX-License-Identifier: MIT
#include "vk/pipelines.h"

#include <algorithm>
#include <array>

#include "plan/base/concat.h"
#include "spirv/unpack.h"
#include "vkgemm/hash.hpp"

namespace vkgemm::vk {
namespace {

using plan::Binding;
using plan::Refusal;
using plan::Result;
using plan::Step;

// A constant that no shader has: the flags of a pipeline that has some. NVIDIA's driver (580.159.04, H200) identifies
// compiled code by the shader and its constants only. A pipeline with VK_PIPELINE_CREATE_DISPATCH_BASE_BIT then gets
// the code of one without, and each of its dispatches begins at work group 0.
constexpr uint32_t flags_id = 100;
static_assert(flags_id > std::ranges::max(plan::constant_ids));

constexpr auto map_entries() {
    constexpr uint32_t count = std::size(plan::constant_ids);
    std::array<VkSpecializationMapEntry, count + 1> out{};
    for (uint32_t i = 0; i < count; ++i) out[i] = {plan::constant_ids[i], i * 4, 4};
    out[count] = {flags_id, count * 4, 4};
    return out;
}

// The kernels test their own bounds, so the driver need not.
VkPipelineRobustnessCreateInfoEXT without_robustness() {
    constexpr auto off = VK_PIPELINE_ROBUSTNESS_BUFFER_BEHAVIOR_DISABLED_EXT;
    VkPipelineRobustnessCreateInfoEXT info = {};
    info.sType = VK_STRUCTURE_TYPE_PIPELINE_ROBUSTNESS_CREATE_INFO_EXT;
    info.storageBuffers = off;
    info.uniformBuffers = off;
    info.vertexInputs = off;
    info.images = VK_PIPELINE_ROBUSTNESS_IMAGE_BEHAVIOR_DISABLED_EXT;
    return info;
}

// Such a device may not have an atomic of device scope in a module, though none that is planned there runs it (the one
// for VKGEMM_SCALARS_LARGEST, whose result is not used).
void remove_atomics(std::vector<uint32_t>& spirv) {
    constexpr uint32_t header_words = 5, op_nop = 1u << 16, op_atomic_u_max = 239;
    for (size_t at = header_words; at < spirv.size();) {
        const size_t words = std::max<size_t>(spirv[at] >> 16, 1);
        if ((spirv[at] & 0xffff) == op_atomic_u_max)
            std::fill_n(spirv.begin() + static_cast<std::ptrdiff_t>(at), std::min(words, spirv.size() - at), op_nop);
        at += words;
    }
}

}  // namespace

Pipelines::~Pipelines() {
    if (!device_) return;
    const DeviceFunctions& f = device_->functions;
    for (auto& [key, entry] : entries_) destroy(key, entry.program);
    for (const auto& layouts : layouts_)
        for (VkPipelineLayout l : layouts) f.DestroyPipelineLayout(device_->handle, l, device_->allocator);
    f.DestroyDescriptorSetLayout(device_->handle, set_layout_, device_->allocator);
}

std::optional<Status> Pipelines::init(const Device& device, uint32_t max_push_constant_bytes) {
    device_ = &device;
    native_.init(device);
    const bool sums_f64 = device.features & plan::need::float64 && max_push_constant_bytes >= abi::f64_argument_bytes;
    VkPipelineLayoutCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
    info.pushConstantRangeCount = 1;
    const auto make_layouts = [&](Binding b) {
        VkResult r = VK_SUCCESS;
        for (size_t f64 = 0; f64 <= size_t{sums_f64} && r == VK_SUCCESS; ++f64) {
            const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                               f64 ? abi::f64_argument_bytes : abi::argument_bytes};
            info.pPushConstantRanges = &range;
            VkPipelineLayout& made = layouts_[f64][static_cast<size_t>(b)];
            r = device.functions.CreatePipelineLayout(device.handle, &info, device.allocator, &made);
            if (r == VK_SUCCESS)
                set_name(device, VK_OBJECT_TYPE_PIPELINE_LAYOUT, made,
                         b == Binding::addresses ? "vkgemm addresses" : "vkgemm descriptors");
        }
        return r;
    };
    if (const VkResult r = make_layouts(Binding::addresses); r != VK_SUCCESS)
        return vulkan_refusal(r, "vkCreatePipelineLayout");
    if (!(device.features & plan::need::push_descriptor)) return std::nullopt;

    std::array<VkDescriptorSetLayoutBinding, BIND_COUNT> bindings{};
    for (uint32_t i = 0; i < BIND_COUNT; ++i)
        bindings[i] = {.binding = i,
                       .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                       .descriptorCount = 1,
                       .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
                       .pImmutableSamplers = nullptr};
    VkDescriptorSetLayoutCreateInfo set = {};
    set.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO;
    set.flags = VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR;
    set.bindingCount = BIND_COUNT;
    set.pBindings = bindings.data();
    if (const VkResult r =
            device.functions.CreateDescriptorSetLayout(device.handle, &set, device.allocator, &set_layout_);
        r != VK_SUCCESS)
        return vulkan_refusal(r, "vkCreateDescriptorSetLayout");
    set_name(device, VK_OBJECT_TYPE_DESCRIPTOR_SET_LAYOUT, set_layout_, "vkgemm operands");
    info.setLayoutCount = 1;
    info.pSetLayouts = &set_layout_;
    if (const VkResult r = make_layouts(Binding::descriptors); r != VK_SUCCESS)
        return vulkan_refusal(r, "vkCreatePipelineLayout");
    return std::nullopt;
}

// FNV-1a, by words.
size_t Pipelines::Hash::operator()(const Key& key) const {
    uint64_t hash = emptyHash;
    const auto add = [&](uint64_t x) { hash = hashed(hash, x); };
    for (const uint32_t x : key.constants) add(x);
    add(std::hash<const void*>{}(key.module) << 2 | uint64_t(key.binding) << 1 | uint64_t(key.capture));
    add(uint64_t(key.is_grouped) << 1 | uint64_t(key.dispatch_base));
    return static_cast<size_t>(hash ^ hash >> 32);
}

Pipelines::Key Pipelines::table_key(const Step& step, Binding binding, bool capture) {
    Key key = {.module = &step.kernel->module,
               .constants = plan::constant_values(step),
               .binding = binding,
               .is_grouped = step.is_grouped,
               .capture = capture,
               .dispatch_base = step.is_sliced()};
    if (VKGEMM_HAS_NATIVE && step.kernel->module.is_native())
        key.constants = plan::constant_values(plan::as_compiled(step));
    return key;
}

Result<Pipelines::Use> Pipelines::get(const Step& step, Binding binding, bool capture_statistics) {
    const Key key = table_key(step, binding, capture_statistics);
    std::unique_lock lock(mutex_);
    Entry& entry = entries_.try_emplace(key).first->second;  // the reference stays good when others are added
    if (!entry.key.kernel) entry.key = key_of(step, binding);
    ++entry.uses;  // so that nobody trims it
    compiled_.wait(lock, [&] { return !entry.compiling; });
    if (entry.program) return Use(*this, entry);
    entry.compiling = true;
    lock.unlock();
    const auto done = [&](const Program& program) {
        lock.lock();
        entry.compiling = false;
        entry.program = program;
        if (!program) --entry.uses;
        compiled_.notify_all();
    };
    try {
        const Result<Program> made = make(step, key);
        done(made ? *made : Program{});
        if (!made) return made.status();
        return Use(*this, entry);
    } catch (...) {  // out of memory: wake the threads that wait for this pipeline
        done({});
        throw;
    }
}

std::optional<Pipelines::Use> Pipelines::find(const Step& step, Binding binding, bool capture_statistics) {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(table_key(step, binding, capture_statistics));
    if (found == entries_.end() || !found->second.program) return std::nullopt;
    ++found->second.uses;
    return Use(*this, found->second);
}

void Pipelines::release(Entry& entry) {
    const std::lock_guard lock(mutex_);
    --entry.uses;
}

uint32_t Pipelines::trim() {
    const std::lock_guard lock(mutex_);
    uint32_t destroyed = 0;
    for (auto at = entries_.begin(); at != entries_.end();) {
        const Entry& entry = at->second;
        if (entry.uses) {
            ++at;
            continue;
        }
        if (entry.program) ++destroyed;
        destroy(at->first, entry.program);
        at = entries_.erase(at);
    }
    return destroyed;
}

std::vector<std::string> Pipelines::keys() {
    std::vector<std::string> out;
    {
        const std::lock_guard lock(mutex_);
        for (const auto& [key, entry] : entries_)
            if (entry.program && !key.capture) out.push_back(to_text(entry.key));
    }
    std::ranges::sort(out);
    return out;
}

Result<Program> Pipelines::make(const Step& step, const Key& key) {
    if (VKGEMM_HAS_NATIVE && step.kernel->module.is_native()) {
        const Result<VkCuFunctionNVX> made = native_.get(step);
        return made ? Result<Program>(Program{VK_NULL_HANDLE, *made}) : made.status();
    }
    const Result<VkPipeline> made = compile(step, key);
    return made ? Result<Program>(Program{*made, VK_NULL_HANDLE}) : made.status();
}

void Pipelines::destroy(const Key& key, const Program& program) {
    if (VKGEMM_HAS_NATIVE && program.function) return native_.release(*key.module, program.function);
    device_->functions.DestroyPipeline(device_->handle, program.pipeline, device_->allocator);
}

Result<VkShaderModule> Pipelines::make_module(const Key& key) {
    const auto variant = key.is_grouped                        ? spirv::Variant::grouped
                         : key.binding == Binding::descriptors ? spirv::Variant::descriptors
                                                               : spirv::Variant::addresses;
    auto code = spirv::unpack(key.module->packed(), variant, plan::Module::packed_base());
    if (code && plan::lacks_device_scope(device_->features)) remove_atomics(*code);
    if (!code)
        return Refusal{VKGEMM_ERROR_UNSUPPORTED,
                       plan::concat({"the SPIR-V of ", key.module->name,
                                     " in this library is damaged; build or install vkgemm again"})};
    VkShaderModuleCreateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
    info.codeSize = code->size() * 4;
    info.pCode = code->data();
    VkShaderModule module = VK_NULL_HANDLE;
    const VkResult r = device_->functions.CreateShaderModule(device_->handle, &info, device_->allocator, &module);
    if (r != VK_SUCCESS) return vulkan_refusal(r, "vkCreateShaderModule");
    return module;
}

Result<VkPipeline> Pipelines::compile(const Step& step, const Key& key) {
    const DeviceFunctions& f = device_->functions;
    const std::string label_text = plan::concat({"vkgemm ", step.kernel->name});  // before there is anything to leak
    const Result<VkShaderModule> made = make_module(key);
    if (!made) return made.status();
    VkShaderModule module = *made;

    VkPipelineCreateFlags flags = 0;
    if (key.capture)
        flags =
            VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR | VK_PIPELINE_CREATE_CAPTURE_INTERNAL_REPRESENTATIONS_BIT_KHR;
    if (key.dispatch_base) flags |= VK_PIPELINE_CREATE_DISPATCH_BASE_BIT;
    static constexpr auto entries = map_entries();
    std::array<uint32_t, entries.size()> constants;
    *std::ranges::copy(key.constants, constants.begin()).out = flags;
    const uint32_t count = static_cast<uint32_t>(flags ? entries.size() : key.constants.size());
    const VkSpecializationInfo specialization = {.mapEntryCount = count,
                                                 .pMapEntries = entries.data(),
                                                 .dataSize = size_t{count} * 4,
                                                 .pData = constants.data()};
    VkPipelineShaderStageRequiredSubgroupSizeCreateInfo subgroup = {
        VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO, nullptr, step.tile.SG};
    VkComputePipelineCreateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
    info.flags = flags;
    info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.module = module;
    info.stage.pName = "main";
    info.stage.pSpecializationInfo = &specialization;
    if (step.tile.SG) {
        if (device_->requires_subgroups) info.stage.pNext = &subgroup;  // else there is one size, and this is it
        if (device_->features & plan::need::full_subgroups)
            info.stage.flags = VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT;
    }
    const VkPipelineRobustnessCreateInfoEXT robustness = without_robustness();
    if (device_->features & plan::need::pipeline_robustness) info.pNext = &robustness;
    info.layout = layout(key.binding, *key.module);

    VkPipeline pipeline = VK_NULL_HANDLE;
    VkResult r;
    {
        std::unique_lock lock(cache_mutex_, std::defer_lock);
        if (device_->cache && device_->cache_externally_synchronized) lock.lock();
        r = f.CreateComputePipelines(device_->handle, device_->cache, 1, &info, device_->allocator, &pipeline);
    }
    f.DestroyShaderModule(device_->handle, module, device_->allocator);
    if (r != VK_SUCCESS) return vulkan_refusal(r, plan::concat({"vkCreateComputePipelines for ", label_text}));
    set_name(*device_, VK_OBJECT_TYPE_PIPELINE, pipeline, label_text.c_str());
    return pipeline;
}

}  // namespace vkgemm::vk
