// SPDX-License-Identifier: MIT
#include <algorithm>

#include "gpu.h"

namespace renderer {

Arena::~Arena() {
    for (VkBuffer b : buffers_) vkDestroyBuffer(gpu_.device, b, nullptr);
    for (const Image& i : images_) {
        vkDestroyImageView(gpu_.device, i.view, nullptr);
        vkDestroyImage(gpu_.device, i.handle, nullptr);
    }
    for (const Block& b : blocks_) vkFreeMemory(gpu_.device, b.memory, nullptr);
}

Arena::Place Arena::allocate(const VkMemoryRequirements& needs, bool readable) {
    VkPhysicalDeviceMemoryProperties all{};
    vkGetPhysicalDeviceMemoryProperties(gpu_.physical, &all);
    const VkMemoryPropertyFlags wanted =
        readable ? VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT
                 : VkMemoryPropertyFlags{VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT};
    uint32_t type = 0;
    while (type < all.memoryTypeCount &&
           !((needs.memoryTypeBits >> type & 1) && (all.memoryTypes[type].propertyFlags & wanted) == wanted))
        ++type;
    if (type == all.memoryTypeCount) fail("no memory type has the flags " + std::to_string(wanted));
    const VkDeviceSize align = std::max(needs.alignment, gpu_.properties.limits.bufferImageGranularity);
    const auto aligned = [&](VkDeviceSize at) { return (at + align - 1) / align * align; };
    auto block = std::ranges::find_if(blocks_, [&](const Block& b) {
        return b.type == type && (b.mapped != nullptr) == readable && aligned(b.used) + needs.size <= b.bytes;
    });
    if (block == blocks_.end()) {
        const VkDeviceSize bytes = std::max<VkDeviceSize>(needs.size, VkDeviceSize{32} << 20);
        const VkMemoryAllocateFlagsInfo flags{.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                              .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
        const VkMemoryAllocateInfo info{.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                        .pNext = &flags,
                                        .allocationSize = bytes,
                                        .memoryTypeIndex = type};
        VkDeviceMemory memory = VK_NULL_HANDLE;
        check(vkAllocateMemory(gpu_.device, &info, nullptr, &memory), "vkAllocateMemory");
        void* mapped = nullptr;
        if (readable) check(vkMapMemory(gpu_.device, memory, 0, VK_WHOLE_SIZE, 0, &mapped), "vkMapMemory");
        block = blocks_.insert(blocks_.end(), {memory, type, 0, bytes, static_cast<std::byte*>(mapped)});
    }
    const VkDeviceSize offset = aligned(block->used);
    block->used = offset + needs.size;
    bytes_ += needs.size;
    return {block->memory, offset, readable ? block->mapped + offset : nullptr};
}

Buffer Arena::buffer(const char* name, VkDeviceSize bytes, bool readable) {
    Buffer made{.bytes = std::max<VkDeviceSize>(bytes, 16)};
    const VkBufferCreateInfo info{.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                  .size = made.bytes,
                                  .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT |
                                           VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT |
                                           VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    check(vkCreateBuffer(gpu_.device, &info, nullptr, &made.handle), "vkCreateBuffer");
    buffers_.push_back(made.handle);
    VkMemoryRequirements needs{};
    vkGetBufferMemoryRequirements(gpu_.device, made.handle, &needs);
    const Place place = allocate(needs, readable);
    check(vkBindBufferMemory(gpu_.device, made.handle, place.memory, place.offset), "vkBindBufferMemory");
    made.mapped = place.mapped;
    gpu_.names[std::bit_cast<uint64_t>(made.handle)] = name;
    return made;
}

Image Arena::image(const char* name, VkFormat format, VkExtent2D size, VkImageUsageFlags usage) {
    Image made{.format = format, .size = size};
    const VkImageCreateInfo info{.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                                 .imageType = VK_IMAGE_TYPE_2D,
                                 .format = format,
                                 .extent = {size.width, size.height, 1},
                                 .mipLevels = 1,
                                 .arrayLayers = 1,
                                 .samples = VK_SAMPLE_COUNT_1_BIT,
                                 .tiling = VK_IMAGE_TILING_OPTIMAL,
                                 .usage = usage};
    check(vkCreateImage(gpu_.device, &info, nullptr, &made.handle), "vkCreateImage");
    images_.push_back(made);
    VkMemoryRequirements needs{};
    vkGetImageMemoryRequirements(gpu_.device, made.handle, &needs);
    const Place place = allocate(needs, false);
    check(vkBindImageMemory(gpu_.device, made.handle, place.memory, place.offset), "vkBindImageMemory");
    const bool depth = usage & VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT;
    const VkImageViewCreateInfo view{
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .image = made.handle,
        .viewType = VK_IMAGE_VIEW_TYPE_2D,
        .format = format,
        .subresourceRange = {depth ? VK_IMAGE_ASPECT_DEPTH_BIT : VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    check(vkCreateImageView(gpu_.device, &view, nullptr, &made.view), "vkCreateImageView");
    images_.back() = made;
    gpu_.names[std::bit_cast<uint64_t>(made.handle)] = name;
    return made;
}

}  // namespace renderer
