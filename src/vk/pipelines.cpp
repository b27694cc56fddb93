// SPDX-License-Identifier: MIT
#include "vk/pipelines.h"

#include <algorithm>
#include <array>

#include "plan/base/concat.h"
#include "vk/shader_modules.h"
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

#define X(id, name, meaning) static_assert((id) != flags_id);
CHAIN_CONSTANTS(X)
#undef X
#define X(id, name, meaning) static_assert((id) > flags_id || (id) + CHAIN_LAYERS <= flags_id);
CHAIN_LAYER_CONSTANTS(X)
#undef X

constexpr VkPipelineCreateFlags capture_flags(bool capture) {
    return capture ? VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR |
                         VK_PIPELINE_CREATE_CAPTURE_INTERNAL_REPRESENTATIONS_BIT_KHR
                   : 0;
}

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

}  // namespace

Pipelines::~Pipelines() {
    if (!device_) return;
    const DeviceFunctions& f = device_->functions;
    for (auto& [key, entry] : entries_) destroy(key, entry.program);
    for (const auto& layouts : layouts_)
        for (VkPipelineLayout l : layouts) f.DestroyPipelineLayout(device_->handle, l, device_->allocator);
    f.DestroyPipelineLayout(device_->handle, chain_layout_, device_->allocator);
    f.DestroyDescriptorSetLayout(device_->handle, set_layout_, device_->allocator);
}

std::optional<Status> Pipelines::init(const Device& device, uint32_t max_push_constant_bytes) {
    device_ = &device;
    native_.init(device);
    if (auto why = make_chain_layout(max_push_constant_bytes)) return why;
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

std::optional<Status> Pipelines::make_chain_layout(uint32_t max_push_constant_bytes) {
    const uint32_t most_bytes = CHAIN_ARGUMENT_WORDS(CHAIN_LAYERS) * 4;
    const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, std::min(most_bytes, max_push_constant_bytes)};
    VkPipelineLayoutCreateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
    info.pushConstantRangeCount = 1;
    info.pPushConstantRanges = &range;
    const VkResult r =
        device_->functions.CreatePipelineLayout(device_->handle, &info, device_->allocator, &chain_layout_);
    if (r != VK_SUCCESS) return vulkan_refusal(r, "vkCreatePipelineLayout");
    set_name(*device_, VK_OBJECT_TYPE_PIPELINE_LAYOUT, chain_layout_, "vkgemm chains");
    return std::nullopt;
}

// FNV-1a, by words.
size_t Pipelines::Hash::operator()(const Key& key) const {
    uint64_t hash = emptyHash;
    const auto add = [&](uint64_t x) { hash = hashed(hash, x); };
    for (const uint32_t x : key.constants) add(x);
    for (const plan::ChainConstant& c : key.chain.constants) add(uint64_t(c.id) << 32 | c.value);
    add(std::hash<const void*>{}(key.module) << 2 | uint64_t(key.binding) << 1 | uint64_t(key.capture));
    add(std::hash<const void*>{}(key.chain.module) << 2 | uint64_t(key.is_grouped) << 1 | uint64_t(key.dispatch_base));
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
    return get(
        key, [&] { return to_text(key_of(step, binding)); }, [&] { return make(step, key); });
}

Result<Pipelines::Use> Pipelines::get(const plan::ChainKey& chain, bool capture_statistics) {
    const Key key = {.module = nullptr,
                     .constants = {},
                     .binding = Binding::addresses,
                     .is_grouped = false,
                     .capture = capture_statistics,
                     .dispatch_base = false,
                     .chain = chain};
    return get(
        key, [&] { return to_text(chain); },
        [&]() -> Result<Program> {
            const Result<VkPipeline> made = compile(chain, capture_statistics);
            return made ? Result<Program>(Program{*made, VK_NULL_HANDLE}) : made.status();
        });
}

template <class TextOf, class Make>
Result<Pipelines::Use> Pipelines::get(const Key& key, TextOf text_of, Make make_program) {
    std::unique_lock lock(mutex_);
    Entry& entry = entries_.try_emplace(key).first->second;  // the reference stays good when others are added
    if (entry.text.empty()) entry.text = text_of();
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
        const Result<Program> made = make_program();
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
            if (entry.program && !key.capture) out.push_back(entry.text);
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

Result<VkPipeline> Pipelines::compile(const Step& step, const Key& key) {
    std::string name = plan::concat({"vkgemm ", step.kernel->name});  // before there is anything to leak
    const Result<VkShaderModule> module = make_module(*device_, *key.module, key.binding, key.is_grouped);
    if (!module) return module.status();
    VkPipelineCreateFlags flags = capture_flags(key.capture);
    if (key.dispatch_base) flags |= VK_PIPELINE_CREATE_DISPATCH_BASE_BIT;
    static constexpr auto entries = map_entries();
    std::array<uint32_t, entries.size()> constants;
    *std::ranges::copy(key.constants, constants.begin()).out = flags;
    const size_t count = flags ? entries.size() : key.constants.size();
    return create(*module, {.name = std::move(name),
                            .entries = std::span(entries).first(count),
                            .constants = std::span(constants).first(count),
                            .subgroup = step.tile.SG,
                            .layout = layout(key.binding, *key.module),
                            .flags = flags});
}

Result<VkPipeline> Pipelines::compile(const plan::ChainKey& key, bool capture) {
    std::vector<VkSpecializationMapEntry> entries;
    std::vector<uint32_t> constants;
    const auto add = [&](uint32_t id, uint32_t value) {
        entries.push_back({id, static_cast<uint32_t>(constants.size() * 4), 4});
        constants.push_back(value);
    };
    for (const plan::ChainConstant& c : key.constants) add(c.id, c.value);
    const VkPipelineCreateFlags flags = capture_flags(capture);
    if (flags) add(flags_id, flags);
    std::string name = plan::concat({"vkgemm ", key.module->name});
    const Result<VkShaderModule> module = make_module(*device_, *key.module, key.value(plan::CHAIN_ID_WG));
    if (!module) return module.status();
    return create(*module, {.name = std::move(name),
                            .entries = entries,
                            .constants = constants,
                            .subgroup = key.value(plan::CHAIN_ID_SG),
                            .layout = chain_layout_,
                            .flags = flags});
}

// Destroys the module.
Result<VkPipeline> Pipelines::create(VkShaderModule module, const Parameters& p) {
    const DeviceFunctions& f = device_->functions;
    const VkSpecializationInfo specialization = {.mapEntryCount = static_cast<uint32_t>(p.entries.size()),
                                                 .pMapEntries = p.entries.data(),
                                                 .dataSize = p.constants.size_bytes(),
                                                 .pData = p.constants.data()};
    VkPipelineShaderStageRequiredSubgroupSizeCreateInfo subgroup = {
        VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO, nullptr, p.subgroup};
    VkComputePipelineCreateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
    info.flags = p.flags;
    info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.module = module;
    info.stage.pName = "main";
    info.stage.pSpecializationInfo = &specialization;
    if (p.subgroup) {
        if (device_->requires_subgroups) info.stage.pNext = &subgroup;  // else there is one size, and this is it
        if (device_->features & plan::need::full_subgroups)
            info.stage.flags = VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT;
    }
    const VkPipelineRobustnessCreateInfoEXT robustness = without_robustness();
    if (device_->features & plan::need::pipeline_robustness) info.pNext = &robustness;
    info.layout = p.layout;

    VkPipeline pipeline = VK_NULL_HANDLE;
    VkResult r;
    {
        std::unique_lock lock(cache_mutex_, std::defer_lock);
        if (device_->cache && device_->cache_externally_synchronized) lock.lock();
        r = f.CreateComputePipelines(device_->handle, device_->cache, 1, &info, device_->allocator, &pipeline);
    }
    f.DestroyShaderModule(device_->handle, module, device_->allocator);
    if (r != VK_SUCCESS) return vulkan_refusal(r, plan::concat({"vkCreateComputePipelines for ", p.name}));
    set_name(*device_, VK_OBJECT_TYPE_PIPELINE, pipeline, p.name.c_str());
    return pipeline;
}

}  // namespace vkgemm::vk
