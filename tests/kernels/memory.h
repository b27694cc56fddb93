// SPDX-License-Identifier: MIT
// Memory on the device that the cases of a thread use one after the other.
#pragma once
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "support/device.h"

namespace vkgemm::test {

/// One host-visible buffer for each slot, as large as any case has needed.
class Pool {
   public:
    static constexpr size_t scalars = VKGEMM_SLOT_SCALARS, scalars_offset = 12;

    /// A copy of the bytes is in the buffer of `slot`, or the reason why it is not.
    std::string hold(size_t slot, std::span<const std::byte> bytes);
    std::vector<std::byte> read(size_t slot, size_t bytes) const;

    std::string hold_scalars(const VkgemmScalars&);  // behind a few bytes
    VkgemmScalars read_scalars() const;

    /// At least so many bytes of any content.
    std::string reserve(size_t slot, size_t bytes);
    const host::Buffer& operator[](size_t slot) const { return buffers_[slot]; }
    std::span<std::byte> mapped(size_t slot) const { return buffers_[slot].mapped(); }
    void clear() { buffers_ = {}; }

    /// Besides the slots of a run: packed operands.
    static constexpr size_t packed_a = VKGEMM_SLOT_COUNT, packed_b = packed_a + 1;

   private:
    std::array<host::Buffer, packed_b + 1> buffers_;
};

/// The pool of this thread. It is emptied when the thread ends, and the first thread's when the device is closed.
Pool& pool();

VkgemmOperand operand_of(const host::Buffer&, uint64_t offset, uint64_t size, bool by_address);

/// The workspace of a plan, or a packed operand, in the pool: poisoned, with zones at both ends that nobody may touch.
class Workspace {
   public:
    explicit Workspace(size_t slot) : slot_(slot) {}

    std::string hold(VkDeviceSize bytes, VkDeviceSize offset = 0);
    std::string look() const;  // "" if the zones are as they were
    VkDeviceSize size() const { return size_; }
    std::span<const std::byte> bytes() const { return pool().mapped(slot_).subspan(offset_, size_); }
    VkgemmOperand operand(bool addresses) const;

   private:
    static constexpr VkDeviceSize zone = 256;
    size_t slot_;
    VkDeviceSize offset_ = 0, size_ = 0;
};

}  // namespace vkgemm::test
