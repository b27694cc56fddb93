// SPDX-License-Identifier: MIT
// Opening a device with exactly what the library asks for.
#include <algorithm>
#include <cstdlib>

#include "host/call_watch.h"
#include "host/state.h"

namespace vkgemm::host {
namespace detail {

DeviceState::~DeviceState() {
    const HoldFloatExceptions held;
    if (handle) vk.vkDeviceWaitIdle(handle);  // first: late work may still run the context's pipelines
    context = {};
    if (!handle) return;
    for (const SubmissionObjects& objects : late) destroy(objects);
    release(staging);
    vk.vkDestroyPipelineCache(handle, pipeline_cache, nullptr);
    vk.vkDestroyDevice(handle, nullptr);
}

namespace {

constexpr uint32_t most_transfer_queues = 2;  // one for each direction

/// Is a Vulkan 1.x struct or the extension's own in the chain, with bufferDeviceAddress on?
bool addresses_enabled(const VkPhysicalDeviceFeatures2& features) {
    for (const auto* link = static_cast<const VkBaseInStructure*>(features.pNext); link; link = link->pNext) {
        if (link->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES &&
            reinterpret_cast<const VkPhysicalDeviceVulkan12Features*>(link)->bufferDeviceAddress)
            return true;
        if (link->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES &&
            reinterpret_cast<const VkPhysicalDeviceBufferDeviceAddressFeatures*>(link)->bufferDeviceAddress)
            return true;
    }
    return false;
}

/// Whether the extension that launches native kernels is of any use to the context.
bool wants_native(const DeviceState& state, const DeviceOptions& options, bool verified) {
    const char* const of_user = std::getenv("VKGEMM_NATIVE");
    const std::string word = of_user ? of_user : "";
    if (options.nativeKernels == VKGEMM_NATIVE_OFF || word == "0") return false;
    if (state.family_flags & VK_QUEUE_GRAPHICS_BIT) return false;
    return verified || options.nativeKernels == VKGEMM_NATIVE_ANY_DRIVER || word == "any";
}

/// Enables an extension if the device has it.
Status add_if_present(DeviceState& state, const char* extension) {
    const Result<bool> present = has_extension(*state.instance, state.physical, extension);
    if (!present) return present.status();
    if (*present) state.extensions.push_back(extension);
    return {};
}

Status decide_native(DeviceState& state, const DeviceOptions& options) {
    const auto is_it = [](const char* e) { return std::string_view(e) == VK_NVX_BINARY_IMPORT_EXTENSION_NAME; };
    const bool asked = std::erase_if(state.extensions, is_it) > 0;  // which it is only on verified drivers
    if (!wants_native(state, options, asked)) return {};
    return add_if_present(state, VK_NVX_BINARY_IMPORT_EXTENSION_NAME);
}

/// Fills `extensions` and `features` with what the problems need on this device.
Status decide_needs(DeviceState& state, const DeviceOptions& options) {
    const Result<Needs> needs = queryNeeds({.instance = state.instance->handle,
                                            .physicalDevice = state.physical,
                                            .apiVersion = state.api_version,
                                            .getInstanceProcAddr = open_loader(),
                                            .problems = options.problems});
    if (!needs) return needs.status();
    state.extensions = needs->requiredExtensions;
    uint64_t features = needs->requiredFeatures;
    if (options.optionalFeatures) {
        features |= needs->optionalFeatures;
        state.extensions.insert(state.extensions.end(), needs->optionalExtensions.begin(),
                                needs->optionalExtensions.end());
    }
    if (Status s = decide_native(state, options); !s) return s;
    if (options.inspect) {
        const size_t before = state.extensions.size();
        const Result<uint64_t> more =
            features_for_inspecting(*state.instance, state.physical, state.api_version, state.extensions);
        if (!more) return more.status();
        features |= *more;
        state.inspects = state.extensions.size() > before;
    }
    // A device that has this extension must not be made without it.
    if (Status s = add_if_present(state, "VK_KHR_portability_subset"); !s) return s;

    state.features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    if (Status merged = mergeFeatures(features, state.api_version, state.features, state.feature_memory); !merged)
        return merged;
    state.addresses = addresses_enabled(state.features);
    return {};
}

Status make_device(DeviceState& state) {
    const float priorities[most_transfer_queues] = {1, 1};
    std::vector<VkDeviceQueueCreateInfo> queues;
    const auto add = [&](uint32_t family, size_t count) {
        if (count == 0) return;
        VkDeviceQueueCreateInfo queue{};
        queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
        queue.queueFamilyIndex = family;
        queue.queueCount = static_cast<uint32_t>(count);
        queue.pQueuePriorities = priorities;
        queues.push_back(queue);
    };
    add(state.family, 1);
    add(state.transfer_family, state.transfer_queues.size());
    VkDeviceCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
    info.pNext = &state.features;
    info.queueCreateInfoCount = static_cast<uint32_t>(queues.size());
    info.pQueueCreateInfos = queues.data();
    info.enabledExtensionCount = static_cast<uint32_t>(state.extensions.size());
    info.ppEnabledExtensionNames = state.extensions.data();
    const VolkInstanceTable& vk = state.instance->vk;
    if (const VkResult made = vk.vkCreateDevice(state.physical, &info, nullptr, &state.handle); made != VK_SUCCESS)
        return failed(made, "vkCreateDevice on " + state.info.name);
    volkLoadDeviceTable(&state.vk, state.handle);
    state.vk.vkGetDeviceQueue(state.handle, state.family, 0, &state.queue);
    for (uint32_t i = 0; i < state.transfer_queues.size(); ++i)
        state.vk.vkGetDeviceQueue(state.handle, state.transfer_family, i, &state.transfer_queues[i]);
    vk.vkGetPhysicalDeviceMemoryProperties(state.physical, &state.memory);
    const auto has_budget = has_extension(*state.instance, state.physical, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
    if (!has_budget) return has_budget.status();
    state.has_budget = *has_budget;
    VkPhysicalDeviceProperties properties{};
    vk.vkGetPhysicalDeviceProperties(state.physical, &properties);
    state.seconds_per_tick = 1e-9 * static_cast<double>(properties.limits.timestampPeriod);
    return {};
}

Status make_pipeline_cache(DeviceState& state, const DeviceOptions& options) {
    if (!options.pipelineCache) return {};
    const std::vector<std::byte> data = options.pipelineCache(state.info);
    VkPipelineCacheCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO;
    info.initialDataSize = data.size();
    info.pInitialData = data.data();
    const VkResult made = state.vk.vkCreatePipelineCache(state.handle, &info, nullptr, &state.pipeline_cache);
    return made == VK_SUCCESS ? Status{} : failed(made, "vkCreatePipelineCache");
}

Status find_device(DeviceState& state, const DeviceOptions& options) {
    const auto devices = physical_devices(*state.instance);
    if (!devices) return devices.status();
    std::vector<DeviceInfo> infos;
    for (VkPhysicalDevice device : *devices)
        infos.push_back(describe(*state.instance, device, static_cast<uint32_t>(infos.size())));
    const Result<uint32_t> chosen = options.choose ? options.choose(infos) : chooseDevice(infos, options.device);
    if (!chosen) return chosen.status();
    if (*chosen >= infos.size())
        return {VKGEMM_ERROR_INVALID_ARGUMENT, VK_SUCCESS,
                "DeviceOptions::choose returned " + std::to_string(*chosen) + ", and there are " +
                    std::to_string(infos.size()) + " devices"};
    state.info = infos[*chosen];
    if (options.accepts)
        if (Status s = options.accepts(state.info); !s) return s;
    state.physical = (*devices)[*chosen];
    state.api_version = usable_version(*state.instance, state.info.apiVersion);
    state.family = compute_family(*state.instance, state.physical, &state.timestamp_bits, &state.family_flags);
    if (!options.transferQueues) return {};
    uint32_t queues = 0;
    state.transfer_family = transfer_family(*state.instance, state.physical, queues);
    state.transfer_queues.resize(std::min(queues, most_transfer_queues));
    return {};
}

}  // namespace
}  // namespace detail

Result<Device> Device::open(const DeviceOptions& options) {
    const HoldFloatExceptions held;
    auto instance = detail::create_instance(options.validation, options.onMessage);
    if (!instance) return instance.status();
    auto state = std::make_shared<detail::DeviceState>();
    state->instance = *instance;
    if (Status s = detail::find_device(*state, options); !s) return s;
    if (Status s = detail::decide_needs(*state, options); !s) return s;
    if (Status s = detail::make_device(*state); !s) return s;
    if (Status s = detail::make_pipeline_cache(*state, options); !s) return s;
    if (const char* folder = std::getenv("VKGEMM_CAPTURE")) state->capture_folder = folder;
    state->log = options.log;
    state->log_user = options.logUser;
    const bool captures = !state->capture_folder.empty();
    auto context = Context::create({.instance = state->instance->handle,
                                    .physicalDevice = state->physical,
                                    .device = state->handle,
                                    .apiVersion = state->api_version,
                                    .getInstanceProcAddr = detail::open_loader(),
                                    .enabledFeatures = &state->features,
                                    .enabledExtensions = state->extensions,
                                    .pipelineCache = state->pipeline_cache,
                                    .log = options.log,
                                    .logUser = options.logUser,
                                    .tunedRows = options.tunedRows,
                                    .disabledKernels = options.disabledKernels,
                                    .recorded = captures ? detail::CallWatch::recorded : nullptr,
                                    .recordedUser = state.get(),
                                    .queueFlags = state->family_flags,
                                    .nativeKernels = options.nativeKernels});
    if (!context) return context.status();
    state->context = *std::move(context);
    return Device(std::move(state));
}

Result<std::vector<std::byte>> Device::pipelineCacheData() const {
    const HoldFloatExceptions held;
    const auto get = [&](size_t& bytes, void* data) {
        return state_->vk.vkGetPipelineCacheData(state_->handle, state_->pipeline_cache, &bytes, data);
    };
    if (!state_->pipeline_cache)
        return Status{VKGEMM_ERROR_UNSUPPORTED, VK_SUCCESS, "the device was opened without a pipeline cache"};
    size_t bytes = 0;
    if (const VkResult r = get(bytes, nullptr); r != VK_SUCCESS) return detail::failed(r, "vkGetPipelineCacheData");
    std::vector<std::byte> data(bytes);
    if (const VkResult r = get(bytes, data.data()); r != VK_SUCCESS && r != VK_INCOMPLETE)
        return detail::failed(r, "vkGetPipelineCacheData");
    data.resize(bytes);
    return data;
}

const DeviceInfo& Device::info() const { return state_->info; }
const Context& Device::context() const { return state_->context; }
VkInstance Device::instance() const { return state_->instance->handle; }
VkPhysicalDevice Device::physicalDevice() const { return state_->physical; }
VkDevice Device::handle() const { return state_->handle; }
VkQueue Device::queue() const { return state_->queue; }
uint32_t Device::queueFamily() const { return state_->family; }
VkQueueFlags Device::queueFlags() const { return state_->family_flags; }
std::span<const VkQueue> Device::transferQueues() const { return state_->transfer_queues; }
uint32_t Device::transferFamily() const { return state_->transfer_family; }
uint32_t Device::apiVersion() const { return state_->api_version; }
PFN_vkGetInstanceProcAddr Device::getInstanceProcAddr() const { return detail::open_loader(); }
const VkPhysicalDeviceFeatures2& Device::enabledFeatures() const { return state_->features; }
std::span<const char* const> Device::enabledExtensions() const { return state_->extensions; }
bool Device::hasAddresses() const { return state_->addresses; }

uint64_t Device::memoryLeft() const {
    const HoldFloatExceptions held;
    const detail::InstanceState& instance = *state_->instance;
    if (!state_->has_budget) return UINT64_MAX;
    VkPhysicalDeviceMemoryBudgetPropertiesEXT budget{};
    budget.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT;
    VkPhysicalDeviceMemoryProperties2 all{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2, &budget, {}};
    instance.vk.vkGetPhysicalDeviceMemoryProperties2(state_->physical, &all);
    const VkPhysicalDeviceMemoryProperties& memory = all.memoryProperties;
    uint32_t largest = UINT32_MAX;
    for (uint32_t i = 0; i < memory.memoryHeapCount; ++i)
        if ((memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) &&
            (largest == UINT32_MAX || memory.memoryHeaps[i].size > memory.memoryHeaps[largest].size))
            largest = i;
    if (largest == UINT32_MAX) return UINT64_MAX;
    return budget.heapBudget[largest] - std::min(budget.heapUsage[largest], budget.heapBudget[largest]);
}
bool Device::inspects() const { return state_->inspects; }
bool Device::validated() const { return state_->instance->validated; }

std::vector<Message> Device::messages() const {
    const auto& log = state_->instance->log;
    const std::lock_guard lock(log.mutex);
    return log.messages;
}

size_t Device::messageCount() const {
    const auto& log = state_->instance->log;
    const std::lock_guard lock(log.mutex);
    return log.messages.size();
}

}  // namespace vkgemm::host
