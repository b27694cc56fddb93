// SPDX-License-Identifier: MIT
#include "gpu.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

namespace renderer {
namespace {

struct Shader {
    const char* name;
    std::span<const uint32_t> f32, f16;
};
#include "shader_table.inc"  // written by CMake: the array `shaders`, with the SPIR-V of each

VKAPI_ATTR vk::Bool32 VKAPI_CALL on_message(vk::DebugUtilsMessageSeverityFlagBitsEXT, vk::DebugUtilsMessageTypeFlagsEXT,
                                            const vk::DebugUtilsMessengerCallbackDataEXT* data, void* count) {
    std::fprintf(stderr, "%s\n", data->pMessage);
    if (count) ++*static_cast<unsigned*>(count);
    return VK_FALSE;
}

/// The loader's entry point.
PFN_vkGetInstanceProcAddr load() {
    if (volkInitialize() != VK_SUCCESS) fail("there is no Vulkan loader");
    return vkGetInstanceProcAddr;
}

/// The first queue family that has `wanted` of graphics and compute, and no more of them.
uint32_t choose_family(const vk::raii::PhysicalDevice& physical, vk::QueueFlags wanted) {
    constexpr vk::QueueFlags both = vk::QueueFlagBits::eGraphics | vk::QueueFlagBits::eCompute;
    const auto families = physical.getQueueFamilyProperties();
    for (uint32_t i = 0; i < families.size(); ++i)
        if ((families[i].queueFlags & both) == wanted) return i;
    fail(wanted == both ? "no queue family has graphics and compute" : "none has compute alone");
}

}  // namespace

void fail(const std::string& text) { throw std::runtime_error(text); }

void check(VkResult result, const char* what) { vk::detail::resultCheck(vk::Result(result), what); }

void check(const vkgemm::Status& status) {
    if (status.code == VKGEMM_ERROR_DEVICE_LOST) throw vk::DeviceLostError(status.text);
    if (!status) fail(status.text);
}

Gpu::Gpu(const Purpose& purpose) : f32(purpose.f32), loader(load()) {
    make_instance(purpose);
    make_device(purpose);
    make_layout();
    const VmaVulkanFunctions functions{.vkGetInstanceProcAddr = vkGetInstanceProcAddr,
                                       .vkGetDeviceProcAddr = instance.getDispatcher()->vkGetDeviceProcAddr};
    const VmaAllocatorCreateInfo info{.flags = VMA_ALLOCATOR_CREATE_BUFFER_DEVICE_ADDRESS_BIT,
                                      .physicalDevice = *physical,
                                      .device = *device,
                                      .pVulkanFunctions = &functions,
                                      .instance = *instance,
                                      .vulkanApiVersion = VK_API_VERSION_1_3};
    check(vmaCreateAllocator(&info, &allocator), "vmaCreateAllocator");
}

void Gpu::make_instance(const Purpose& purpose) {
    std::vector<const char*> extensions = purpose.instance_extensions;
    extensions.push_back(VK_EXT_DEBUG_UTILS_EXTENSION_NAME);  // which the loader itself has
    using Severity = vk::DebugUtilsMessageSeverityFlagBitsEXT;
    const vk::DebugUtilsMessengerCreateInfoEXT listener({}, Severity::eWarning | Severity::eError,
                                                        vk::DebugUtilsMessageTypeFlagBitsEXT::eValidation, on_message,
                                                        purpose.messages);
    const vk::ApplicationInfo app({}, {}, {}, {}, VK_API_VERSION_1_3);
    instance = loader.createInstance(vk::InstanceCreateInfo({}, &app, {}, extensions, &listener));
    messenger = instance.createDebugUtilsMessengerEXT(listener);
    const auto devices = instance.enumeratePhysicalDevices();
    if (devices.empty()) fail("there is no Vulkan device");
    physical = devices[0];
    properties = physical.getProperties();
    if (properties.apiVersion < VK_API_VERSION_1_3)
        fail(std::string(properties.deviceName.data()) + " has Vulkan 1." +
             std::to_string(VK_API_VERSION_MINOR(properties.apiVersion)) + ", and this renderer needs 1.3");
}

void Gpu::make_device(const Purpose& purpose) {
    const vkgemm::Needs needs = need(vkgemm::queryNeeds({.instance = *instance,
                                                         .physicalDevice = *physical,
                                                         .apiVersion = VK_API_VERSION_1_3,
                                                         .getInstanceProcAddr = vkGetInstanceProcAddr,
                                                         .problems = purpose.problems}));
    std::vector<const char*> extensions = purpose.device_extensions;
    extensions.push_back(VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME);
    for (const auto* list : {&needs.requiredExtensions, &needs.optionalExtensions})
        for (const char* name : *list)
            if (std::ranges::none_of(extensions, [&](const char* e) { return std::strcmp(e, name) == 0; }))
                extensions.push_back(name);
    // vkgemm's matrix kernels want vulkanMemoryModel; with it on, the renderer's own atomics want the device scope too.
    using Features12 = vk::PhysicalDeviceVulkan12Features;
    const auto has = physical.getFeatures2<vk::PhysicalDeviceFeatures2, Features12>();
    const vk::Bool32 scope = has.get<Features12>().vulkanMemoryModelDeviceScope;
    // The renderer's own chain. vkgemm sets its members in it, and appends what is missing.
    auto of13 = vk::PhysicalDeviceVulkan13Features().setSynchronization2(true).setDynamicRendering(true);
    auto of12 = Features12().setPNext(&of13).setBufferDeviceAddress(true);
    of12.setVulkanMemoryModel(scope).setVulkanMemoryModelDeviceScope(scope);
    vk::PhysicalDeviceFeatures2 features({}, &of12);
    std::vector<std::byte> memory;
    check(vkgemm::mergeFeatures(needs.requiredFeatures | needs.optionalFeatures, VK_API_VERSION_1_3, features, memory));

    family = choose_family(physical, purpose.queue);
    const float priority = 1;
    const vk::DeviceQueueCreateInfo one({}, family, 1, &priority);
    try {
        device = physical.createDevice(vk::DeviceCreateInfo({}, one, {}, extensions, {}, &features));
    } catch (const vk::ExtensionNotPresentError&) {  // vkgemm only wants what is there
        fail(std::string(properties.deviceName.data()) +
             " lacks VK_KHR_push_descriptor, or VK_KHR_swapchain for a window");
    }
    queue = device.getQueue(family, 0);
    context = need(vkgemm::Context::create({.instance = *instance,
                                            .physicalDevice = *physical,
                                            .device = *device,
                                            .apiVersion = VK_API_VERSION_1_3,
                                            .getInstanceProcAddr = vkGetInstanceProcAddr,
                                            .enabledFeatures = &*features,
                                            .enabledExtensions = extensions,
                                            .queueFlags = static_cast<VkQueueFlags>(purpose.queue)}));
}

void Gpu::make_layout() {
    std::array<vk::DescriptorSetLayoutBinding, 8> bindings;
    for (uint32_t i = 0; i < bindings.size(); ++i)
        bindings[i] = {i, i == 7 ? vk::DescriptorType::eSampledImage : vk::DescriptorType::eStorageBuffer, 1,
                       vk::ShaderStageFlagBits::eCompute};
    set_layout =
        device.createDescriptorSetLayout({vk::DescriptorSetLayoutCreateFlagBits::ePushDescriptorKHR, bindings});
    const vk::PushConstantRange push(stages, 0, 128);
    layout = device.createPipelineLayout({{}, *set_layout, push});
}

Resource Gpu::buffer(const char* name, VkDeviceSize bytes, bool readable) {
    Resource made{.bytes = std::max<VkDeviceSize>(bytes, 16)};
    using Usage = vk::BufferUsageFlagBits;
    const VkBufferCreateInfo info =
        vk::BufferCreateInfo({}, made.bytes,
                             Usage::eStorageBuffer | Usage::eIndirectBuffer | Usage::eShaderDeviceAddress |
                                 Usage::eTransferSrc | Usage::eTransferDst);
    VmaAllocationCreateInfo memory{.usage = VMA_MEMORY_USAGE_AUTO};
    if (readable) {
        memory.flags = VMA_ALLOCATION_CREATE_HOST_ACCESS_RANDOM_BIT | VMA_ALLOCATION_CREATE_MAPPED_BIT;
        memory.requiredFlags = VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    }
    VkBuffer handle = nullptr;
    VmaAllocation allocation = nullptr;
    VmaAllocationInfo where{};
    check(vmaCreateBuffer(allocator, &info, &memory, &handle, &allocation, &where), "vmaCreateBuffer");
    made.handle = handle;
    made.mapped = where.pMappedData;
    made.owner = {handle, [=, this](VkBuffer b) { vmaDestroyBuffer(allocator, b, allocation); }};
    names[made.id()] = name;
    return made;
}

Resource Gpu::depth_image(const char* name, vk::Extent2D size) {
    constexpr vk::Format format = vk::Format::eD32Sfloat;
    constexpr vk::ImageSubresourceRange all(vk::ImageAspectFlagBits::eDepth, 0, 1, 0, 1);
    const VkImageCreateInfo info = vk::ImageCreateInfo(
        {}, vk::ImageType::e2D, format, vk::Extent3D(size, 1), 1, 1, vk::SampleCountFlagBits::e1,
        vk::ImageTiling::eOptimal, vk::ImageUsageFlagBits::eDepthStencilAttachment | vk::ImageUsageFlagBits::eSampled);
    const VmaAllocationCreateInfo memory{.usage = VMA_MEMORY_USAGE_AUTO};
    VkImage handle = nullptr;
    VmaAllocation allocation = nullptr;
    check(vmaCreateImage(allocator, &info, &memory, &handle, &allocation, nullptr), "vmaCreateImage");
    const std::shared_ptr<void> image(handle, [=, this](VkImage i) { vmaDestroyImage(allocator, i, allocation); });
    const auto both = std::make_shared<std::pair<std::shared_ptr<void>, vk::raii::ImageView>>(
        image, device.createImageView({{}, handle, vk::ImageViewType::e2D, format, {}, all}));
    Resource made{.bytes = VkDeviceSize{4} * size.width * size.height, .owner = both, .view = *both->second};
    names[made.id()] = name;
    constexpr auto commands = vk::PipelineStageFlagBits2::eAllCommands;
    new_images.emplace_back(commands, vk::AccessFlags2(), commands,
                            vk::AccessFlagBits2::eMemoryRead | vk::AccessFlagBits2::eMemoryWrite,
                            vk::ImageLayout::eUndefined, vk::ImageLayout::eGeneral, 0, 0, handle, all);
    return made;
}

vk::raii::ShaderModule Gpu::shader(const std::string& name) const {
    const Shader* const found = std::ranges::find(shaders, name, &Shader::name);
    if (found == std::end(shaders)) fail("there is no shader " + name);
    const auto code = f32 ? found->f32 : found->f16;
    return device.createShaderModule({{}, code.size_bytes(), code.data()});
}

vk::Pipeline Gpu::compute(const std::string& name) {
    const auto [pipeline, is_new] = pipelines.try_emplace(name, nullptr);
    if (is_new) {
        const vk::raii::ShaderModule code = shader(name);
        const vk::PipelineShaderStageCreateInfo stage({}, vk::ShaderStageFlagBits::eCompute, *code, "main");
        pipeline->second = device.createComputePipeline(nullptr, {{}, stage, *layout});
    }
    return *pipeline->second;
}

}  // namespace renderer
