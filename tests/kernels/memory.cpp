// SPDX-License-Identifier: MIT
#include "kernels/memory.h"

#include <algorithm>
#include <cstring>

#include "kernels/phases.h"

namespace vkgemm::test {

std::string Pool::reserve(size_t slot, size_t bytes) {
    if (buffers_[slot].size() >= bytes) return "";
    buffers_[slot] = {};
    auto made = device().createBuffer(std::max<VkDeviceSize>(bytes * 2, 1 << 20), host::Memory::host);
    if (!made) return "no buffer: " + made.status().text;
    buffers_[slot] = *made;
    return "";
}

std::string Pool::hold(size_t slot, std::span<const std::byte> bytes) {
    if (std::string why = reserve(slot, bytes.size()); !why.empty()) return why;
    if (!bytes.empty()) std::memcpy(buffers_[slot].mapped().data(), bytes.data(), bytes.size());
    return "";
}

std::vector<std::byte> Pool::read(size_t slot, size_t bytes) const {
    const std::byte* from = buffers_[slot].mapped().data();
    return {from, from + bytes};
}

std::string Pool::hold_scalars(const VkgemmScalars& s) {
    std::array<std::byte, 2 * scalars_offset + sizeof s> bytes;
    bytes.fill(std::byte{0xff});
    std::memcpy(&bytes[scalars_offset], &s, sizeof s);
    return hold(scalars, bytes);
}

VkgemmScalars Pool::read_scalars() const {
    VkgemmScalars s;
    std::memcpy(&s, buffers_[scalars].mapped().data() + scalars_offset, sizeof s);
    return s;
}

Pool& pool() {
    static thread_local Pool p;
    static const bool cleaned = (before_closing([] { pool().clear(); }), true);
    static_cast<void>(cleaned);
    return p;
}

VkgemmOperand operand_of(const host::Buffer& buffer, uint64_t offset, uint64_t size, bool by_address) {
    return {.buffer = by_address ? VK_NULL_HANDLE : buffer.handle(),
            .offset = offset,
            .size = size,
            .address = by_address ? buffer.address() : 0};
}

std::string Workspace::hold(VkDeviceSize bytes, VkDeviceSize offset) {
    const Timed timed(Phase::upload);
    size_ = bytes;
    offset_ = offset;
    if (bytes == 0) return "";
    if (std::string why = pool().reserve(slot_, offset + bytes + zone); !why.empty()) return why;
    std::ranges::fill(pool().mapped(slot_).first(offset + bytes + zone), std::byte{0xff});
    return "";
}

std::string Workspace::look() const {
    if (size_ == 0) return "";
    const auto kept = [&](VkDeviceSize from, VkDeviceSize count) {
        return std::ranges::all_of(pool().mapped(slot_).subspan(from, count),
                                   [](std::byte b) { return b == std::byte{0xff}; });
    };
    if (!kept(offset_ + size_, zone)) return "bytes behind the workspace were written";
    return kept(0, offset_) ? "" : "bytes before the workspace were written";
}

VkgemmOperand Workspace::operand(bool addresses) const {
    if (size_ == 0) return {};
    return operand_of(pool()[slot_], offset_, size_, addresses);
}

}  // namespace vkgemm::test
