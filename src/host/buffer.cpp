// SPDX-License-Identifier: MIT
// Buffers, and moving data in and out of them.
#include <algorithm>
#include <cstring>

#include "host/state.h"

namespace vkgemm::host {
namespace detail {
namespace {

constexpr VkDeviceSize staging_size = 32u << 20;  // one piece of a big transfer

/// The memory type with all of `must` and, if there is one, all of `wish`; UINT32_MAX: none.
uint32_t memory_type(const VkPhysicalDeviceMemoryProperties& memory, uint32_t allowed, VkMemoryPropertyFlags must,
                     VkMemoryPropertyFlags wish) {
    for (const VkMemoryPropertyFlags flags : {must | wish, must})
        for (uint32_t i = 0; i < memory.memoryTypeCount; ++i)
            if ((allowed >> i & 1) && (memory.memoryTypes[i].propertyFlags & flags) == flags) return i;
    return UINT32_MAX;
}

std::string bytes_text(VkDeviceSize bytes) { return std::to_string(bytes) + " bytes"; }

Status check_span(const Buffer& buffer, VkDeviceSize offset, VkDeviceSize bytes) {
    if (bytes <= buffer.size() && offset <= buffer.size() - bytes) return {};
    return {VKGEMM_ERROR_INVALID_ARGUMENT, VK_SUCCESS,
            bytes_text(bytes) + " at offset " + std::to_string(offset) + " lie outside the buffer of " +
                bytes_text(buffer.size())};
}

}  // namespace

Status DeviceState::allocate(VkDeviceSize bytes, Memory where, VkBufferUsageFlags usage, Allocation& out) const {
    Allocation made;
    Status status = try_allocate(bytes, where, usage, made);
    if (status)
        out = made;
    else
        release(made);
    return status;
}

void DeviceState::release(const Allocation& a) const {
    if (a.buffer) vk.vkDestroyBuffer(handle, a.buffer, nullptr);
    if (a.memory) vk.vkFreeMemory(handle, a.memory, nullptr);
}

Status DeviceState::try_allocate(VkDeviceSize bytes, Memory where, VkBufferUsageFlags usage, Allocation& out) const {
    VkBufferCreateInfo create{};
    create.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
    create.size = bytes;
    create.usage = usage;
    const uint32_t families[] = {family, transfer_family};
    if (!transfer_queues.empty()) {
        create.sharingMode = VK_SHARING_MODE_CONCURRENT;
        create.queueFamilyIndexCount = 2;
        create.pQueueFamilyIndices = families;
    }
    if (const VkResult made = vk.vkCreateBuffer(handle, &create, nullptr, &out.buffer); made != VK_SUCCESS)
        return failed(made, "vkCreateBuffer of " + bytes_text(bytes));

    VkMemoryRequirements needs{};
    vk.vkGetBufferMemoryRequirements(handle, out.buffer, &needs);
    constexpr VkMemoryPropertyFlags mappable =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    const uint32_t type = where == Memory::device
                              ? memory_type(memory, needs.memoryTypeBits, 0, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT)
                              : memory_type(memory, needs.memoryTypeBits, mappable, VK_MEMORY_PROPERTY_HOST_CACHED_BIT);
    if (type == UINT32_MAX)
        return {VKGEMM_ERROR_OUT_OF_MEMORY, VK_SUCCESS, "the device has no memory type for this buffer"};

    VkMemoryAllocateFlagsInfo flags{};
    flags.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO;
    flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
    VkMemoryAllocateInfo allocation{};
    allocation.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
    if (usage & VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT) allocation.pNext = &flags;
    allocation.allocationSize = needs.size;
    allocation.memoryTypeIndex = type;
    if (const VkResult got = vk.vkAllocateMemory(handle, &allocation, nullptr, &out.memory); got != VK_SUCCESS)
        return failed(got, "vkAllocateMemory of " + bytes_text(needs.size));
    if (const VkResult bind = vk.vkBindBufferMemory(handle, out.buffer, out.memory, 0); bind != VK_SUCCESS)
        return failed(bind, "vkBindBufferMemory");
    if (where == Memory::device) return {};
    void* address = nullptr;
    if (const VkResult map = vk.vkMapMemory(handle, out.memory, 0, VK_WHOLE_SIZE, 0, &address); map != VK_SUCCESS)
        return failed(map, "vkMapMemory");
    out.mapped = {static_cast<std::byte*>(address), static_cast<size_t>(bytes)};
    return {};
}

Status DeviceState::prepare_staging() {
    if (staging.buffer) return {};
    return allocate(staging_size, Memory::host, VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                    staging);
}

Status DeviceState::download(VkBuffer buffer, VkDeviceSize offset, std::span<std::byte> data) {
    const std::lock_guard lock(staging_mutex);
    if (Status s = prepare_staging(); !s) return s;
    for (size_t done = 0; done < data.size();) {
        const size_t piece = std::min(data.size() - done, staging.mapped.size());
        Status copied = submit_and_wait(*this, [&](VkCommandBuffer commands) -> Status {
            const VkBufferCopy copy{offset + done, 0, piece};
            vk.vkCmdCopyBuffer(commands, buffer, staging.buffer, 1, &copy);
            return {};
        });
        if (!copied) return copied;
        std::memcpy(data.data() + done, staging.mapped.data(), piece);
        done += piece;
    }
    return {};
}

BufferState::~BufferState() {
    const HoldFloatExceptions held;
    if (!device) return;
    if (device->has_late()) device->vk.vkDeviceWaitIdle(device->handle);
    device->release(own);
}

}  // namespace detail

VkBuffer Buffer::handle() const { return state_ ? state_->own.buffer : VK_NULL_HANDLE; }
VkDeviceSize Buffer::size() const { return state_ ? state_->size : 0; }
VkDeviceAddress Buffer::address() const { return state_ ? state_->address : 0; }
std::span<std::byte> Buffer::mapped() const { return state_ ? state_->own.mapped : std::span<std::byte>(); }

Operand Buffer::operand(VkDeviceSize offset, VkDeviceSize bytes) const {
    if (offset >= size() || bytes > size() - offset) return {};
    return {.buffer = handle(), .offset = offset, .size = bytes ? bytes : size() - offset};
}

Result<Buffer> Device::createBuffer(VkDeviceSize bytes, Memory where) const {
    const HoldFloatExceptions held;
    if (bytes == 0) return Status{VKGEMM_ERROR_INVALID_ARGUMENT, VK_SUCCESS, "a buffer has at least one byte"};
    VkBufferUsageFlags usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT |
                               VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    if (state_->addresses) usage |= VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
    auto buffer = std::make_shared<detail::BufferState>();
    buffer->device = state_;
    buffer->size = bytes;
    if (Status s = state_->allocate(bytes, where, usage, buffer->own); !s) return s;
    if (state_->addresses) {
        VkBufferDeviceAddressInfo info{};
        info.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO;
        info.buffer = buffer->own.buffer;
        const auto get = state_->vk.vkGetBufferDeviceAddress ? state_->vk.vkGetBufferDeviceAddress
                                                             : state_->vk.vkGetBufferDeviceAddressKHR;
        buffer->address = get(state_->handle, &info);
    }
    return Buffer(std::move(buffer));
}

Status Device::upload(const Buffer& buffer, VkDeviceSize offset, std::span<const std::byte> data) const {
    const HoldFloatExceptions held;
    if (Status s = detail::check_span(buffer, offset, data.size()); !s) return s;
    if (!buffer.mapped().empty()) {
        if (!data.empty()) std::memcpy(buffer.mapped().data() + offset, data.data(), data.size());
        return {};
    }
    const std::lock_guard lock(state_->staging_mutex);
    if (Status s = state_->prepare_staging(); !s) return s;
    for (size_t done = 0; done < data.size();) {
        const size_t piece = std::min(data.size() - done, state_->staging.mapped.size());
        std::memcpy(state_->staging.mapped.data(), data.data() + done, piece);
        Status copied = submit([&](VkCommandBuffer commands) -> Status {
            const VkBufferCopy copy{0, offset + done, piece};
            state_->vk.vkCmdCopyBuffer(commands, state_->staging.buffer, buffer.handle(), 1, &copy);
            return {};
        });
        if (!copied) return copied;
        done += piece;
    }
    return {};
}

Status Device::download(const Buffer& buffer, VkDeviceSize offset, std::span<std::byte> data) const {
    const HoldFloatExceptions held;
    if (Status s = detail::check_span(buffer, offset, data.size()); !s) return s;
    if (!buffer.mapped().empty()) {
        if (!data.empty()) std::memcpy(data.data(), buffer.mapped().data() + offset, data.size());
        return {};
    }
    return state_->download(buffer.handle(), offset, data);
}

Status Device::fill(const Buffer& buffer, VkDeviceSize offset, VkDeviceSize bytes, uint32_t pattern) const {
    const HoldFloatExceptions held;
    if (Status s = detail::check_span(buffer, offset, bytes); !s) return s;
    if (offset % 4 != 0 || bytes % 4 != 0)
        return {VKGEMM_ERROR_INVALID_ARGUMENT, VK_SUCCESS,
                "fill: offset " + std::to_string(offset) + " and size " + std::to_string(bytes) +
                    " must be multiples of 4"};
    if (bytes == 0) return {};
    return submit([&](VkCommandBuffer commands) -> Status {
        state_->vk.vkCmdFillBuffer(commands, buffer.handle(), offset, bytes, pattern);
        return {};
    });
}

}  // namespace vkgemm::host
