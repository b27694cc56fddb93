// SPDX-License-Identifier: MIT
#include "gpu.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace renderer {
namespace {

struct Shader {
    const char* name;
    std::span<const uint32_t> f32, f16;
};
#include "shader_table.inc"  // written by CMake: the array `shaders`, with the SPIR-V of each

VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT, VkDebugUtilsMessageTypeFlagsEXT,
                                          const VkDebugUtilsMessengerCallbackDataEXT* data, void* count) {
    std::fprintf(stderr, "%s\n", data->pMessage);
    ++*static_cast<unsigned*>(count);
    return VK_FALSE;
}

/// The first queue family that has `wanted` of graphics and compute, and no more of them.
uint32_t choose_family(VkPhysicalDevice physical, VkQueueFlags wanted) {
    uint32_t count = 0;
    vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, nullptr);
    std::vector<VkQueueFamilyProperties> families(count);
    vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, families.data());
    for (uint32_t i = 0; i < count; ++i)
        if ((families[i].queueFlags & (VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT)) == wanted) return i;
    fail(wanted & VK_QUEUE_GRAPHICS_BIT ? "no queue family has graphics and compute" : "none has compute alone");
}

}  // namespace

void fail(const std::string& text, int code) {
    std::fflush(stdout);
    std::fprintf(stderr, "neural_texture: %s\n", text.c_str());
    std::_Exit(code);  // nothing is destroyed: after a lost device, or a half-made one, that would only fail again
}

void check(VkResult result, const char* what) {
    if (result == VK_SUCCESS) return;
    if (result == VK_ERROR_DEVICE_LOST)
        fail(std::string(what) + ": the device is lost (VK_ERROR_DEVICE_LOST); start the program again", 3);
    fail(std::string(what) + ": VkResult " + std::to_string(result));
}

void check(const vkgemm::Status& status) {
    if (!status) fail(status.text, status.code == VKGEMM_ERROR_DEVICE_LOST ? 3 : 1);
}

Gpu::Gpu(const Purpose& purpose) : f32(purpose.f32) {
    make_instance(purpose.instance_extensions);
    make_device(purpose);
    make_layout();
    const VmaVulkanFunctions functions{.vkGetInstanceProcAddr = vkGetInstanceProcAddr,
                                       .vkGetDeviceProcAddr = vkGetDeviceProcAddr};
    const VmaAllocatorCreateInfo info{.flags = VMA_ALLOCATOR_CREATE_BUFFER_DEVICE_ADDRESS_BIT,
                                      .physicalDevice = physical,
                                      .device = device,
                                      .pVulkanFunctions = &functions,
                                      .instance = instance,
                                      .vulkanApiVersion = VK_API_VERSION_1_3};
    check(vmaCreateAllocator(&info, &allocator), "vmaCreateAllocator");
}

void Gpu::make_instance(std::vector<const char*> extensions) {
    check(volkInitialize(), "there is no Vulkan loader");
    extensions.push_back(VK_EXT_DEBUG_UTILS_EXTENSION_NAME);  // which the loader itself has
    const VkDebugUtilsMessengerCreateInfoEXT listener{
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity =
            VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
        .pfnUserCallback = on_message,
        .pUserData = &messages};
    const VkApplicationInfo app{.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_3};
    const VkInstanceCreateInfo info{.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                    .pNext = &listener,
                                    .pApplicationInfo = &app,
                                    .enabledExtensionCount = static_cast<uint32_t>(extensions.size()),
                                    .ppEnabledExtensionNames = extensions.data()};
    check(vkCreateInstance(&info, nullptr, &instance), "vkCreateInstance");
    volkLoadInstance(instance);
    check(vkCreateDebugUtilsMessengerEXT(instance, &listener, nullptr, &messenger), "vkCreateDebugUtilsMessengerEXT");
    uint32_t count = 1;
    if (vkEnumeratePhysicalDevices(instance, &count, &physical) < 0 || count == 0) fail("there is no Vulkan device");
    vkGetPhysicalDeviceProperties(physical, &properties);
    if (properties.apiVersion < VK_API_VERSION_1_3)
        fail(std::string(properties.deviceName) + " has Vulkan 1." +
             std::to_string(VK_API_VERSION_MINOR(properties.apiVersion)) + ", and this renderer needs 1.3");
}

void Gpu::make_device(const Purpose& purpose) {
    const vkgemm::Needs needs = need(vkgemm::queryNeeds({.instance = instance,
                                                         .physicalDevice = physical,
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
    VkPhysicalDeviceVulkan12Features has{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
    VkPhysicalDeviceFeatures2 query{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &has};
    vkGetPhysicalDeviceFeatures2(physical, &query);
    // The renderer's own chain. vkgemm sets its members in it, and appends what is missing.
    VkPhysicalDeviceVulkan13Features of13{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES,
                                          .synchronization2 = VK_TRUE,
                                          .dynamicRendering = VK_TRUE};
    VkPhysicalDeviceVulkan12Features of12{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
                                          .pNext = &of13,
                                          .bufferDeviceAddress = VK_TRUE,
                                          .vulkanMemoryModel = has.vulkanMemoryModelDeviceScope,
                                          .vulkanMemoryModelDeviceScope = has.vulkanMemoryModelDeviceScope};
    VkPhysicalDeviceFeatures2 features{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &of12};
    std::vector<std::byte> memory;
    check(vkgemm::mergeFeatures(needs.requiredFeatures | needs.optionalFeatures, VK_API_VERSION_1_3, features, memory));

    family = choose_family(physical, purpose.queue);
    const float priority = 1;
    const VkDeviceQueueCreateInfo one{.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                      .queueFamilyIndex = family,
                                      .queueCount = 1,
                                      .pQueuePriorities = &priority};
    const VkDeviceCreateInfo info{.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                  .pNext = &features,
                                  .queueCreateInfoCount = 1,
                                  .pQueueCreateInfos = &one,
                                  .enabledExtensionCount = static_cast<uint32_t>(extensions.size()),
                                  .ppEnabledExtensionNames = extensions.data()};
    const VkResult made = vkCreateDevice(physical, &info, nullptr, &device);
    if (made == VK_ERROR_EXTENSION_NOT_PRESENT)  // vkgemm only wants what is there
        fail(std::string(properties.deviceName) + " lacks VK_KHR_push_descriptor, or VK_KHR_swapchain for a window");
    check(made, "vkCreateDevice");
    volkLoadDevice(device);
    vkGetDeviceQueue(device, family, 0, &queue);
    context = need(vkgemm::Context::create({.instance = instance,
                                            .physicalDevice = physical,
                                            .device = device,
                                            .apiVersion = VK_API_VERSION_1_3,
                                            .getInstanceProcAddr = vkGetInstanceProcAddr,
                                            .enabledFeatures = &features,
                                            .enabledExtensions = extensions,
                                            .queueFlags = purpose.queue}));
}

void Gpu::make_layout() {
    std::array<VkDescriptorSetLayoutBinding, 8> bindings{};
    for (uint32_t i = 0; i < bindings.size(); ++i)
        bindings[i] = {.binding = i,
                       .descriptorType = i == 7 ? VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                       .descriptorCount = 1,
                       .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
    const VkDescriptorSetLayoutCreateInfo set{.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                              .flags = VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR,
                                              .bindingCount = bindings.size(),
                                              .pBindings = bindings.data()};
    check(vkCreateDescriptorSetLayout(device, &set, nullptr, &set_layout), "vkCreateDescriptorSetLayout");
    const VkPushConstantRange push{.stageFlags = stages, .size = 128};
    const VkPipelineLayoutCreateInfo info{.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                          .setLayoutCount = 1,
                                          .pSetLayouts = &set_layout,
                                          .pushConstantRangeCount = 1,
                                          .pPushConstantRanges = &push};
    check(vkCreatePipelineLayout(device, &info, nullptr, &layout), "vkCreatePipelineLayout");
}

Gpu::~Gpu() {
    for (const auto& [name, pipeline] : pipelines) vkDestroyPipeline(device, pipeline, nullptr);
    vkDestroyPipelineLayout(device, layout, nullptr);
    vkDestroyDescriptorSetLayout(device, set_layout, nullptr);
    vmaDestroyAllocator(allocator);
    context = {};
    vkDestroyDevice(device, nullptr);
    vkDestroyDebugUtilsMessengerEXT(instance, messenger, nullptr);
    vkDestroyInstance(instance, nullptr);
}

VkShaderModule Gpu::shader(const std::string& name) const {
    const Shader* const found = std::ranges::find(shaders, name, &Shader::name);
    if (found == std::end(shaders)) fail("there is no shader " + name);
    const auto code = f32 ? found->f32 : found->f16;
    const VkShaderModuleCreateInfo info{
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = code.size_bytes(), .pCode = code.data()};
    VkShaderModule module = VK_NULL_HANDLE;
    check(vkCreateShaderModule(device, &info, nullptr, &module), "vkCreateShaderModule");
    return module;
}

VkPipeline Gpu::compute(const std::string& name) {
    VkPipeline& pipeline = pipelines[name];
    if (pipeline) return pipeline;
    const VkPipelineShaderStageCreateInfo stage{.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                                .module = shader(name),
                                                .pName = "main"};
    const VkComputePipelineCreateInfo info{
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO, .stage = stage, .layout = layout};
    check(vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &info, nullptr, &pipeline), "vkCreateComputePipelines");
    vkDestroyShaderModule(device, stage.module, nullptr);
    return pipeline;
}

Arena::~Arena() {
    for (const auto& [handle, memory] : buffers_) vmaDestroyBuffer(gpu_.allocator, handle, memory);
    for (const auto& [image, memory] : images_) {
        vkDestroyImageView(gpu_.device, image.view, nullptr);
        vmaDestroyImage(gpu_.allocator, image.handle, memory);
    }
}

Buffer Arena::buffer(const char* name, VkDeviceSize bytes, bool readable) {
    Buffer made{.bytes = std::max<VkDeviceSize>(bytes, 16)};
    const VkBufferCreateInfo info{.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                  .size = made.bytes,
                                  .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT |
                                           VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT |
                                           VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    VmaAllocationCreateInfo memory{.usage = VMA_MEMORY_USAGE_AUTO};
    if (readable) {
        memory.flags = VMA_ALLOCATION_CREATE_HOST_ACCESS_RANDOM_BIT | VMA_ALLOCATION_CREATE_MAPPED_BIT;
        memory.requiredFlags = VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    }
    VmaAllocation allocation = VK_NULL_HANDLE;
    VmaAllocationInfo where{};
    check(vmaCreateBuffer(gpu_.allocator, &info, &memory, &made.handle, &allocation, &where), "vmaCreateBuffer");
    made.mapped = where.pMappedData;
    buffers_.emplace_back(made.handle, allocation);
    gpu_.names[std::bit_cast<uint64_t>(made.handle)] = name;
    return made;
}

Image Arena::depth_image(const char* name, VkExtent2D size) {
    constexpr VkFormat format = VK_FORMAT_D32_SFLOAT;
    Image made{.size = size};
    const VkImageCreateInfo info{.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                                 .imageType = VK_IMAGE_TYPE_2D,
                                 .format = format,
                                 .extent = {size.width, size.height, 1},
                                 .mipLevels = 1,
                                 .arrayLayers = 1,
                                 .samples = VK_SAMPLE_COUNT_1_BIT,
                                 .usage = VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT | VK_IMAGE_USAGE_SAMPLED_BIT};
    const VmaAllocationCreateInfo memory{.usage = VMA_MEMORY_USAGE_AUTO};
    VmaAllocation allocation = VK_NULL_HANDLE;
    check(vmaCreateImage(gpu_.allocator, &info, &memory, &made.handle, &allocation, nullptr), "vmaCreateImage");
    const VkImageSubresourceRange all{.aspectMask = VK_IMAGE_ASPECT_DEPTH_BIT, .levelCount = 1, .layerCount = 1};
    const VkImageViewCreateInfo view{.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
                                     .image = made.handle,
                                     .viewType = VK_IMAGE_VIEW_TYPE_2D,
                                     .format = format,
                                     .subresourceRange = all};
    check(vkCreateImageView(gpu_.device, &view, nullptr, &made.view), "vkCreateImageView");
    images_.emplace_back(made, allocation);
    gpu_.names[std::bit_cast<uint64_t>(made.handle)] = name;
    gpu_.new_images.push_back({.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2,
                               .srcStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                               .dstStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                               .dstAccessMask = VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT,
                               .newLayout = VK_IMAGE_LAYOUT_GENERAL,
                               .image = made.handle,
                               .subresourceRange = all});
    return made;
}

}  // namespace renderer
