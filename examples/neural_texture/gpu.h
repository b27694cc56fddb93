// SPDX-License-Identifier: MIT
// The renderer's device and its memory. An error ends the program: code 3 if the device is lost, otherwise 1.
#pragma once
#include <vk_mem_alloc.h>
#include <volk.h>

#include <bit>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>
#include <vkgemm/vkgemm.hpp>

namespace renderer {

[[noreturn]] void fail(const std::string& text, int code = 1);
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
    VkQueueFlags queue = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT;  // a family with these, and of them no other
};

struct Gpu {
    static constexpr VkShaderStageFlags stages = VK_SHADER_STAGE_COMPUTE_BIT | VK_SHADER_STAGE_VERTEX_BIT;
    const bool f32;
    VkInstance instance = VK_NULL_HANDLE;
    VkPhysicalDevice physical = VK_NULL_HANDLE;
    VkPhysicalDeviceProperties properties{};
    VkDevice device = VK_NULL_HANDLE;
    VkQueue queue = VK_NULL_HANDLE;
    uint32_t family = 0;
    VmaAllocator allocator = VK_NULL_HANDLE;
    vkgemm::Context context{};
    VkDescriptorSetLayout set_layout = VK_NULL_HANDLE;  // 7 storage buffers, the depth image; pushed
    VkPipelineLayout layout = VK_NULL_HANDLE;           // of every pipeline of the renderer
    std::map<std::string, VkPipeline> pipelines{};
    std::map<uint64_t, const char*> names{};          // of buffers and images, by handle
    std::vector<VkImageMemoryBarrier2> new_images{};  // whose layout the next frame sets
    VkDebugUtilsMessengerEXT messenger = VK_NULL_HANDLE;
    unsigned messages = 0;  // of a validation layer, if one is loaded

    /// Opens the first device, also with what the problems need, and lends it to vkgemm.
    explicit Gpu(const Purpose& purpose);
    Gpu(const Gpu&) = delete;
    Gpu& operator=(const Gpu&) = delete;
    ~Gpu();
    void wait_idle() const { check(vkDeviceWaitIdle(device), "vkDeviceWaitIdle"); }
    /// The shader of that name in this folder; the caller destroys it.
    VkShaderModule shader(const std::string& name) const;
    /// Its pipeline, which is made at its first use.
    VkPipeline compute(const std::string& name);

   private:
    void make_instance(std::vector<const char*> extensions);
    void make_device(const Purpose& purpose);
    void make_layout();
};

struct Buffer {
    VkBuffer handle = VK_NULL_HANDLE;
    VkDeviceSize bytes = 0, offset = 0;
    void* mapped = nullptr;  // for readback
    vkgemm::Operand operand(VkDeviceSize from = 0) const {
        return {.buffer = handle, .offset = offset + from, .size = bytes - from};
    }
    /// A part of it, which passes touch like a buffer of its own.
    Buffer part(VkDeviceSize from, VkDeviceSize size) const {
        return {.handle = handle, .bytes = size, .offset = offset + from};
    }
    template <class T>
    std::span<const T> read() const {
        return {static_cast<const T*>(mapped), bytes / sizeof(T)};
    }
};

/// The depth buffer, always in the layout GENERAL, so that the graph has no layouts to track.
struct Image {
    VkImage handle = VK_NULL_HANDLE;
    VkImageView view = VK_NULL_HANDLE;
    VkExtent2D size{};
};

/// What was made from an arena is destroyed with it: the network has one, and the screen has another, which a resize
/// replaces. VMA has the memory.
class Arena {
   public:
    explicit Arena(Gpu& of) : gpu_(of) {}
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;
    ~Arena();
    Buffer buffer(const char* name, VkDeviceSize bytes, bool readable = false);
    Image depth_image(const char* name, VkExtent2D size);

   private:
    Gpu& gpu_;
    std::vector<std::pair<VkBuffer, VmaAllocation>> buffers_{};
    std::vector<std::pair<Image, VmaAllocation>> images_{};
};

}  // namespace renderer
