/* SPDX-License-Identifier: MIT */
#include "gpu.h"

#include <stdlib.h>
#include <string.h>
#include <volk.h>

PFN_vkGetInstanceProcAddr gpu_loader(void) { return vkGetInstanceProcAddr; }

int gpu_create_instance(Gpu* gpu) {
    VkApplicationInfo app = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                             .pApplicationName = "minimal_c",
                             .applicationVersion = 1,
                             .apiVersion = VK_API_VERSION_1_2};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &app};
    VkPhysicalDeviceProperties properties;
    uint32_t count = 1, families = 1;
    VkQueueFamilyProperties family;
    VkResult result;
    memset(gpu, 0, sizeof *gpu);
    if (volkInitialize() != VK_SUCCESS || vkCreateInstance(&info, NULL, &gpu->instance) != VK_SUCCESS) return 1;
    volkLoadInstance(gpu->instance);

    result = vkEnumeratePhysicalDevices(gpu->instance, &count, &gpu->physical); /* the first one */
    if ((result != VK_SUCCESS && result != VK_INCOMPLETE) || count == 0) return 1;
    vkGetPhysicalDeviceProperties(gpu->physical, &properties);
    memcpy(gpu->name, properties.deviceName, sizeof gpu->name);
    gpu->api_version = properties.apiVersion < app.apiVersion ? properties.apiVersion : app.apiVersion;
    vkGetPhysicalDeviceQueueFamilyProperties(gpu->physical, &families,
                                             &family); /* on nearly every device the first family can compute */
    return families == 1 && (family.queueFlags & VK_QUEUE_COMPUTE_BIT) ? 0 : 1;
}

int gpu_create_device(Gpu* gpu, const VkgemmNeeds* needs) {
    const float priority = 1;
    VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &priority};
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .pNext = &gpu->features,
                               .queueCreateInfoCount = 1,
                               .pQueueCreateInfos = &queue,
                               .enabledExtensionCount = needs->requiredExtensionCount,
                               .ppEnabledExtensionNames = needs->requiredExtensions};
    size_t size = 0;
    uint32_t bit;

    /* Enable only what vkgemm requires: features go into our chain, extensions into our list. */
    gpu->features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    if (vkgemmMergeFeatures(needs->requiredFeatures, gpu->api_version, &gpu->features, NULL, &size) < 0) return 1;
    gpu->feature_memory = malloc(size ? size : 1);
    if (!gpu->feature_memory) return 1;
    if (vkgemmMergeFeatures(needs->requiredFeatures, gpu->api_version, &gpu->features, gpu->feature_memory, &size) !=
        VKGEMM_SUCCESS)
        return 1;
    for (bit = 0; bit < 64; ++bit)
        if ((needs->requiredFeatures >> bit & 1) && vkgemmFeatureName(bit) &&
            strcmp(vkgemmFeatureName(bit), "bufferDeviceAddress") == 0)
            gpu->has_addresses = 1;

    if (vkCreateDevice(gpu->physical, &info, NULL, &gpu->device) != VK_SUCCESS) return 1;
    volkLoadDevice(gpu->device);
    vkGetDeviceQueue(gpu->device, gpu->family, 0, &gpu->queue);
    return 0;
}

int gpu_create_buffer(const Gpu* gpu, VkDeviceSize bytes, GpuBuffer* buffer) {
    const VkMemoryPropertyFlags wanted = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                               .size = bytes,
                               .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
                               .sharingMode = VK_SHARING_MODE_EXCLUSIVE};
    VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                       .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
    VkMemoryAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
    VkMemoryRequirements needs;
    VkPhysicalDeviceMemoryProperties memory;
    void* data;
    memset(buffer, 0, sizeof *buffer);
    if (gpu->has_addresses) {
        info.usage |= VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
        allocate.pNext = &flags;
    }
    if (vkCreateBuffer(gpu->device, &info, NULL, &buffer->buffer) != VK_SUCCESS) return 1;
    vkGetBufferMemoryRequirements(gpu->device, buffer->buffer, &needs);
    vkGetPhysicalDeviceMemoryProperties(gpu->physical, &memory);
    allocate.allocationSize = needs.size;
    while (allocate.memoryTypeIndex < memory.memoryTypeCount &&
           (!(needs.memoryTypeBits >> allocate.memoryTypeIndex & 1) ||
            (memory.memoryTypes[allocate.memoryTypeIndex].propertyFlags & wanted) != wanted))
        ++allocate.memoryTypeIndex;
    if (allocate.memoryTypeIndex == memory.memoryTypeCount) return 1;
    if (vkAllocateMemory(gpu->device, &allocate, NULL, &buffer->memory) != VK_SUCCESS) return 1;
    if (vkBindBufferMemory(gpu->device, buffer->buffer, buffer->memory, 0) != VK_SUCCESS) return 1;
    if (vkMapMemory(gpu->device, buffer->memory, 0, VK_WHOLE_SIZE, 0, &data) != VK_SUCCESS) return 1;
    buffer->data = data;
    return 0;
}

void gpu_destroy_buffer(const Gpu* gpu, GpuBuffer* buffer) {
    if (!gpu->device) return;
    vkDestroyBuffer(gpu->device, buffer->buffer, NULL);
    vkFreeMemory(gpu->device, buffer->memory, NULL);
}

void gpu_destroy(Gpu* gpu) {
    if (gpu->device) vkDestroyDevice(gpu->device, NULL);
    if (gpu->instance) vkDestroyInstance(gpu->instance, NULL);
    free(gpu->feature_memory);
}

int gpu_run(const Gpu* gpu, GpuRecord record, void* user) {
    VkCommandPoolCreateInfo pool_info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                         .flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT,
                                         .queueFamilyIndex = gpu->family};
    VkCommandBufferAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                            .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                            .commandBufferCount = 1};
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                      .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    VkMemoryBarrier to_host = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                               .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                               .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1};
    VkCommandPool pool = VK_NULL_HANDLE;
    VkCommandBuffer commands;
    int failed = 1;
    if (vkCreateCommandPool(gpu->device, &pool_info, NULL, &pool) != VK_SUCCESS) return 1;
    allocate.commandPool = pool;
    submit.pCommandBuffers = &commands;
    if (vkAllocateCommandBuffers(gpu->device, &allocate, &commands) == VK_SUCCESS &&
        vkBeginCommandBuffer(commands, &begin) == VK_SUCCESS && record(commands, user) == 0) {
        vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &to_host,
                             0, NULL, 0, NULL);
        failed = vkEndCommandBuffer(commands) != VK_SUCCESS ||
                 vkQueueSubmit(gpu->queue, 1, &submit, VK_NULL_HANDLE) != VK_SUCCESS ||
                 vkQueueWaitIdle(gpu->queue) != VK_SUCCESS;
    }
    vkDestroyCommandPool(gpu->device, pool, NULL);
    return failed;
}
