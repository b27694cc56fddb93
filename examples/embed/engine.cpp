// SPDX-License-Identifier: MIT
#include "engine.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace engine {
namespace {

const uint32_t fill_code[] =
#include "fill.inc"
    ;
const uint32_t count_code[] =
#include "count.inc"
    ;
const uint32_t reduce_code[] =
#include "reduce.inc"
    ;

void check(VkResult result, const char* what) {
    if (result == VK_SUCCESS) return;
    std::fprintf(stderr, "%s: VkResult %d\n", what, static_cast<int>(result));
    std::exit(1);
}

VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT, VkDebugUtilsMessageTypeFlagsEXT,
                                          const VkDebugUtilsMessengerCallbackDataEXT* data, void* count) {
    std::fprintf(stderr, "%s\n", data->pMessage);
    ++*static_cast<unsigned*>(count);
    return VK_FALSE;
}

bool has_debug_utils() {
    uint32_t count = 0;
    vkEnumerateInstanceExtensionProperties(nullptr, &count, nullptr);
    std::vector<VkExtensionProperties> all(count);
    vkEnumerateInstanceExtensionProperties(nullptr, &count, all.data());
    return std::ranges::any_of(
        all, [](const auto& e) { return std::strcmp(e.extensionName, VK_EXT_DEBUG_UTILS_EXTENSION_NAME) == 0; });
}

VkPipeline make_pipeline(const Gpu& gpu, VkPipelineLayout layout, std::span<const uint32_t> code) {
    VkShaderModuleCreateInfo module_info{};
    module_info.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
    module_info.codeSize = code.size_bytes();
    module_info.pCode = code.data();
    VkShaderModule module = VK_NULL_HANDLE;
    check(vkCreateShaderModule(gpu.device, &module_info, nullptr, &module), "vkCreateShaderModule");
    VkComputePipelineCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
    info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.module = module;
    info.stage.pName = "main";
    info.layout = layout;
    VkPipeline pipeline = VK_NULL_HANDLE;
    check(vkCreateComputePipelines(gpu.device, VK_NULL_HANDLE, 1, &info, nullptr, &pipeline),
          "vkCreateComputePipelines");
    vkDestroyShaderModule(gpu.device, module, nullptr);
    return pipeline;
}

}  // namespace

void start(Gpu& gpu) {
    check(volkInitialize(), "there is no Vulkan loader");
    VkApplicationInfo app{};
    app.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
    app.pApplicationName = "embed";
    app.apiVersion = VK_API_VERSION_1_2;
    VkDebugUtilsMessengerCreateInfoEXT messenger{};
    messenger.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT;
    messenger.messageSeverity =
        VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
    messenger.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
    messenger.pfnUserCallback = on_message;
    messenger.pUserData = &gpu.messages;
    const bool debug = has_debug_utils();
    const char* const extension = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
    VkInstanceCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
    info.pNext = debug ? &messenger : nullptr;
    info.pApplicationInfo = &app;
    info.enabledExtensionCount = debug ? 1 : 0;
    info.ppEnabledExtensionNames = &extension;
    check(vkCreateInstance(&info, nullptr, &gpu.instance), "vkCreateInstance");
    volkLoadInstance(gpu.instance);
    if (debug)
        check(vkCreateDebugUtilsMessengerEXT(gpu.instance, &messenger, nullptr, &gpu.messenger),
              "vkCreateDebugUtilsMessengerEXT");

    uint32_t count = 1;
    const VkResult found = vkEnumeratePhysicalDevices(gpu.instance, &count, &gpu.physical);
    check(found == VK_INCOMPLETE ? VK_SUCCESS : found, "vkEnumeratePhysicalDevices");
    check(count == 1 ? VK_SUCCESS : VK_ERROR_INITIALIZATION_FAILED, "there is no Vulkan device");
    VkPhysicalDeviceProperties properties{};
    vkGetPhysicalDeviceProperties(gpu.physical, &properties);
    std::memcpy(gpu.name, properties.deviceName, sizeof gpu.name);
    gpu.api_version = std::min(properties.apiVersion, app.apiVersion);
}

void make_device(Gpu& gpu, std::span<const char* const> extensions, const VkPhysicalDeviceFeatures2& features) {
    uint32_t count = 0;
    vkGetPhysicalDeviceQueueFamilyProperties(gpu.physical, &count, nullptr);
    std::vector<VkQueueFamilyProperties> families(count);
    vkGetPhysicalDeviceQueueFamilyProperties(gpu.physical, &count, families.data());
    while (gpu.family + 1 < count && !(families[gpu.family].queueFlags & VK_QUEUE_COMPUTE_BIT)) ++gpu.family;
    const float priority = 1;
    VkDeviceQueueCreateInfo queue{};
    queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
    queue.queueFamilyIndex = gpu.family;
    queue.queueCount = 1;
    queue.pQueuePriorities = &priority;
    VkDeviceCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
    info.pNext = &features;
    info.queueCreateInfoCount = 1;
    info.pQueueCreateInfos = &queue;
    info.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
    info.ppEnabledExtensionNames = extensions.data();
    check(vkCreateDevice(gpu.physical, &info, nullptr, &gpu.device), "vkCreateDevice");
    volkLoadDevice(gpu.device);
    vkGetDeviceQueue(gpu.device, gpu.family, 0, &gpu.queue);
}

void stop(Gpu& gpu) {
    vkDestroyDevice(gpu.device, nullptr);
    if (gpu.messenger) vkDestroyDebugUtilsMessengerEXT(gpu.instance, gpu.messenger, nullptr);
    vkDestroyInstance(gpu.instance, nullptr);
}

Buffer make_buffer(const Gpu& gpu, size_t floats, bool readable) {
    Buffer buffer;
    buffer.bytes = floats * sizeof(float);
    VkBufferCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
    info.size = buffer.bytes;
    info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT |
                 (gpu.addresses ? VkBufferUsageFlags{VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT} : 0);
    check(vkCreateBuffer(gpu.device, &info, nullptr, &buffer.handle), "vkCreateBuffer");
    VkMemoryRequirements needs{};
    vkGetBufferMemoryRequirements(gpu.device, buffer.handle, &needs);
    VkPhysicalDeviceMemoryProperties memory{};
    vkGetPhysicalDeviceMemoryProperties(gpu.physical, &memory);
    const VkMemoryPropertyFlags wanted =
        readable ? VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT
                 : VkMemoryPropertyFlags{VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT};
    VkMemoryAllocateFlagsInfo flags{};
    flags.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO;
    flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
    VkMemoryAllocateInfo allocate{};
    allocate.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
    allocate.pNext = gpu.addresses ? &flags : nullptr;
    allocate.allocationSize = needs.size;
    const auto fits = [&](uint32_t i) {
        return (needs.memoryTypeBits >> i & 1) && (memory.memoryTypes[i].propertyFlags & wanted) == wanted;
    };
    while (allocate.memoryTypeIndex + 1 < memory.memoryTypeCount && !fits(allocate.memoryTypeIndex))
        ++allocate.memoryTypeIndex;
    check(vkAllocateMemory(gpu.device, &allocate, nullptr, &buffer.memory), "vkAllocateMemory");
    check(vkBindBufferMemory(gpu.device, buffer.handle, buffer.memory, 0), "vkBindBufferMemory");
    void* mapped = nullptr;
    if (readable) check(vkMapMemory(gpu.device, buffer.memory, 0, VK_WHOLE_SIZE, 0, &mapped), "vkMapMemory");
    buffer.mapped = static_cast<const float*>(mapped);
    return buffer;
}

void destroy(const Gpu& gpu, Buffer& buffer) {
    vkDestroyBuffer(gpu.device, buffer.handle, nullptr);
    vkFreeMemory(gpu.device, buffer.memory, nullptr);
}

Passes make_passes(const Gpu& gpu) {
    Passes p;
    const VkDescriptorSetLayoutBinding bindings[] = {
        {0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr},
        {1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr}};
    VkDescriptorSetLayoutCreateInfo set{};
    set.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO;
    set.bindingCount = 2;
    set.pBindings = bindings;
    check(vkCreateDescriptorSetLayout(gpu.device, &set, nullptr, &p.set_layout), "vkCreateDescriptorSetLayout");
    const VkPushConstantRange push{VK_SHADER_STAGE_COMPUTE_BIT, 0, 8};
    VkPipelineLayoutCreateInfo layout{};
    layout.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
    layout.setLayoutCount = 1;
    layout.pSetLayouts = &p.set_layout;
    layout.pushConstantRangeCount = 1;
    layout.pPushConstantRanges = &push;
    check(vkCreatePipelineLayout(gpu.device, &layout, nullptr, &p.layout), "vkCreatePipelineLayout");
    const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 64};
    VkDescriptorPoolCreateInfo pool{};
    pool.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
    pool.maxSets = 32;
    pool.poolSizeCount = 1;
    pool.pPoolSizes = &size;
    check(vkCreateDescriptorPool(gpu.device, &pool, nullptr, &p.pool), "vkCreateDescriptorPool");
    p.fill = make_pipeline(gpu, p.layout, fill_code);
    p.count = make_pipeline(gpu, p.layout, count_code);
    p.reduce = make_pipeline(gpu, p.layout, reduce_code);
    return p;
}

void destroy(const Gpu& gpu, Passes& p) {
    vkDestroyPipeline(gpu.device, p.fill, nullptr);
    vkDestroyPipeline(gpu.device, p.count, nullptr);
    vkDestroyPipeline(gpu.device, p.reduce, nullptr);
    vkDestroyDescriptorPool(gpu.device, p.pool, nullptr);
    vkDestroyPipelineLayout(gpu.device, p.layout, nullptr);
    vkDestroyDescriptorSetLayout(gpu.device, p.set_layout, nullptr);
}

void record_pass(const Gpu& gpu, const Passes& p, VkPipeline pipeline, VkCommandBuffer commands, const Buffer& first,
                 const Buffer& second, uint32_t x, uint32_t y, uint32_t invocations) {
    VkDescriptorSetAllocateInfo allocate{};
    allocate.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO;
    allocate.descriptorPool = p.pool;
    allocate.descriptorSetCount = 1;
    allocate.pSetLayouts = &p.set_layout;
    VkDescriptorSet set = VK_NULL_HANDLE;
    check(vkAllocateDescriptorSets(gpu.device, &allocate, &set), "vkAllocateDescriptorSets");
    const VkDescriptorBufferInfo buffers[] = {{first.handle, 0, first.bytes}, {second.handle, 0, second.bytes}};
    VkWriteDescriptorSet write{};
    write.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
    write.dstSet = set;
    write.descriptorCount = 2;
    write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    write.pBufferInfo = buffers;
    vkUpdateDescriptorSets(gpu.device, 1, &write, 0, nullptr);
    const uint32_t push[] = {x, y};
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, p.layout, 0, 1, &set, 0, nullptr);
    vkCmdPushConstants(commands, p.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof push, push);
    vkCmdDispatch(commands, (invocations + 63) / 64, 1, 1);
}

VkCommandBuffer begin_frame(const Gpu& gpu, VkCommandPool* pool) {
    VkCommandPoolCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
    info.queueFamilyIndex = gpu.family;
    check(vkCreateCommandPool(gpu.device, &info, nullptr, pool), "vkCreateCommandPool");
    VkCommandBufferAllocateInfo allocate{};
    allocate.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
    allocate.commandPool = *pool;
    allocate.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    allocate.commandBufferCount = 1;
    VkCommandBuffer commands = VK_NULL_HANDLE;
    check(vkAllocateCommandBuffers(gpu.device, &allocate, &commands), "vkAllocateCommandBuffers");
    VkCommandBufferBeginInfo begin{};
    begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    check(vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
    return commands;
}

void end_frame(const Gpu& gpu, VkCommandPool pool, VkCommandBuffer commands) {
    VkMemoryBarrier to_host{};
    to_host.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
    to_host.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT;
    to_host.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &to_host, 0,
                         nullptr, 0, nullptr);
    check(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
    VkSubmitInfo submit{};
    submit.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    submit.commandBufferCount = 1;
    submit.pCommandBuffers = &commands;
    check(vkQueueSubmit(gpu.queue, 1, &submit, VK_NULL_HANDLE), "vkQueueSubmit");
    check(vkQueueWaitIdle(gpu.queue), "vkQueueWaitIdle");
    vkDestroyCommandPool(gpu.device, pool, nullptr);
}

}  // namespace engine
