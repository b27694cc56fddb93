// SPDX-License-Identifier: MIT
// This stands for an engine that existed before vkgemm, with its own instance, device, buffers and passes. To keep the
// example short, every error ends the program.
#pragma once
#include <volk.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace engine {

struct Gpu {
    VkInstance instance = VK_NULL_HANDLE;
    VkPhysicalDevice physical = VK_NULL_HANDLE;
    VkDevice device = VK_NULL_HANDLE;
    VkQueue queue = VK_NULL_HANDLE;
    uint32_t family = 0;
    uint32_t api_version = 0;  // the lower of the version that we request and the device's
    char name[VK_MAX_PHYSICAL_DEVICE_NAME_SIZE] = "";
    VkDebugUtilsMessengerEXT messenger = VK_NULL_HANDLE;
    unsigned messages = 0;   // from a validation layer, if one is loaded
    bool addresses = false;  // create buffers that have a device address
};

/// Makes the instance and picks the physical device.
void start(Gpu& gpu);
/// Makes the device with `extensions` and the chain at `features`.
void make_device(Gpu& gpu, std::span<const char* const> extensions, const VkPhysicalDeviceFeatures2& features);
void stop(Gpu& gpu);

struct Buffer {
    VkBuffer handle = VK_NULL_HANDLE;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    VkDeviceSize bytes = 0;
    const float* mapped = nullptr;
};
Buffer make_buffer(const Gpu& gpu, size_t floats, bool readable);
void destroy(const Gpu& gpu, Buffer& buffer);

/// The engine's compute passes. Each takes two buffers and two numbers.
struct Passes {
    VkDescriptorSetLayout set_layout = VK_NULL_HANDLE;
    VkPipelineLayout layout = VK_NULL_HANDLE;
    VkDescriptorPool pool = VK_NULL_HANDLE;
    VkPipeline fill = VK_NULL_HANDLE, count = VK_NULL_HANDLE, reduce = VK_NULL_HANDLE;
};
Passes make_passes(const Gpu& gpu);
void destroy(const Gpu& gpu, Passes& passes);
void record_pass(const Gpu& gpu, const Passes& passes, VkPipeline pipeline, VkCommandBuffer commands,
                 const Buffer& first, const Buffer& second, uint32_t x, uint32_t y, uint32_t invocations);

VkCommandBuffer begin_frame(const Gpu& gpu, VkCommandPool* pool);
void end_frame(const Gpu& gpu, VkCommandPool pool, VkCommandBuffer commands);

}  // namespace engine
