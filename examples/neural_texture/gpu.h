// SPDX-License-Identifier: MIT
// The renderer's device and its memory, in Vulkan-Hpp: what goes out of scope is destroyed, and an error is an
// exception, vk::DeviceLostError if the device is lost.
#pragma once
#include <volk.h>
// After volk, which is the loader.
#include <vk_mem_alloc.h>
#define VULKAN_HPP_ENABLE_DYNAMIC_LOADER_TOOL 0
#define VULKAN_HPP_HANDLE_ERROR_OUT_OF_DATE_AS_SUCCESS  // an old swapchain is made anew (window.h)
#include <bit>
#include <map>
#include <memory>
#include <vkgemm/vkgemm.hpp>
#include <vulkan/vulkan_raii.hpp>

namespace renderer {

[[noreturn]] void fail(const std::string& text);
void check(VkResult result, const char* what);
void check(const vkgemm::Status& status);
template <class T>
T need(vkgemm::Result<T> result) {
    check(result.status());
    return *std::move(result);
}

/// What a device is opened for.
struct Purpose {
    bool f32 = false;  // the network's weights and activations; otherwise f16
    std::vector<vkgemm::Problem> problems{};
    std::vector<const char*> instance_extensions{}, device_extensions{};
    vk::QueueFlags queue = vk::QueueFlagBits::eGraphics | vk::QueueFlagBits::eCompute;  // of these, no others
    unsigned* messages = nullptr;  // how many a validation layer had, if one is loaded
};

/// A range of a buffer, or the depth image; it lives as long as the last copy. The image is always in the layout
/// GENERAL, so that the graph has no layouts to track.
struct Resource {
    vk::Buffer handle{};  // null: the image
    VkDeviceSize bytes = 0, offset = 0;
    void* mapped = nullptr;  // for readback
    std::shared_ptr<void> owner{};
    vk::ImageView view{};  // null: a buffer

    uint64_t id() const { return handle ? std::bit_cast<uint64_t>(handle) : std::bit_cast<uint64_t>(view); }
    vkgemm::Operand operand(VkDeviceSize from = 0) const {
        return {.buffer = handle, .offset = offset + from, .size = bytes - from};
    }
    /// A part of a buffer, which passes touch like a buffer of its own.
    Resource part(VkDeviceSize from, VkDeviceSize size) const {
        return {.handle = handle, .bytes = size, .offset = offset + from, .owner = owner};
    }
    template <class T>
    std::span<const T> read() const {
        return {static_cast<const T*>(mapped), bytes / sizeof(T)};
    }
};

struct Gpu {
    static constexpr vk::ShaderStageFlags stages = vk::ShaderStageFlagBits::eCompute | vk::ShaderStageFlagBits::eVertex;
    const bool f32;
    vk::raii::Context loader;
    vk::raii::Instance instance{nullptr};
    vk::raii::DebugUtilsMessengerEXT messenger{nullptr};
    vk::raii::PhysicalDevice physical{nullptr};
    vk::PhysicalDeviceProperties properties{};
    vk::raii::Device device{nullptr};
    vk::raii::Queue queue{nullptr};
    uint32_t family = 0;
    vkgemm::Context context{};
    VmaAllocator allocator = nullptr;
    vk::raii::DescriptorSetLayout set_layout{nullptr};  // 7 storage buffers, the depth image; pushed
    vk::raii::PipelineLayout layout{nullptr};           // of every pipeline of the renderer
    std::map<std::string, vk::raii::Pipeline> pipelines{};
    std::map<uint64_t, const char*> names{};            // of resources, by id
    std::vector<vk::ImageMemoryBarrier2> new_images{};  // whose layout the next frame sets

    /// Opens the first device, also with what the problems need, and lends it to vkgemm.
    explicit Gpu(const Purpose& purpose);
    Gpu(const Gpu&) = delete;
    Gpu& operator=(const Gpu&) = delete;
    ~Gpu() { vmaDestroyAllocator(allocator); }
    /// Waits until nothing runs; also if the device is lost.
    void finish() const noexcept { device.getDispatcher()->vkDeviceWaitIdle(*device); }
    Resource buffer(const char* name, VkDeviceSize bytes, bool readable = false);
    Resource depth_image(const char* name, vk::Extent2D size);
    /// The shader of that name in this folder.
    vk::raii::ShaderModule shader(const std::string& name) const;
    /// Its pipeline, which is made at its first use.
    vk::Pipeline compute(const std::string& name);

   private:
    void make_instance(const Purpose& purpose);
    void make_device(const Purpose& purpose);
    void make_layout();
};

}  // namespace renderer
