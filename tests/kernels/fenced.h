// SPDX-License-Identifier: MIT
// Operands beside a page that nobody may touch, on Linux. A CPU driver's shader that reads or writes there ends the
// program with SIGSEGV.
#pragma once
#if defined(__linux__)

#    include <sys/mman.h>
#    include <unistd.h>

#    include <cstring>
#    include <stdexcept>

#    include "support/device.h"
#    include "vkgemm/rounding.hpp"

namespace vkgemm::test {

enum class Side { before, behind };

/// Bytes in a buffer whose neighbours on one side are a page that nobody may touch, as long as this lives.
class Fenced {
   public:
    Fenced(size_t bytes, Side side, size_t alignment = 1)
        : bytes_(bytes), page_(static_cast<size_t>(sysconf(_SC_PAGESIZE))) {
        if (bytes == 0) return;
        auto made = device().createBuffer(bytes + 4 * page_, host::Memory::host);
        if (!made) throw std::runtime_error("no buffer: " + made.status().text);
        buffer_ = *made;
        std::byte* const all = buffer_.mapped().data();
        const size_t first = (page_ - reinterpret_cast<uintptr_t>(all) % page_) % page_;  // whole page of the buffer
        const size_t aligned = roundUp(bytes, alignment);
        const size_t wall = side == Side::before ? first : first + roundUp(aligned, page_);
        offset_ = side == Side::before ? wall + page_ : wall - aligned;
        std::memset(all, 0xff, buffer_.mapped().size());
        wall_ = all + wall;
    }
    ~Fenced() {
        if (wall_) mprotect(wall_, page_, PROT_READ | PROT_WRITE);
    }
    Fenced(const Fenced&) = delete;
    Fenced& operator=(const Fenced&) = delete;

    void set(int protection) {
        if (wall_ && mprotect(wall_, page_, protection) != 0) throw std::runtime_error("mprotect failed");
    }
    std::byte* data() const { return buffer_.mapped().data() + offset_; }
    VkgemmOperand operand(bool by_address = false) const {
        if (!bytes_) return {};
        return {.buffer = by_address ? VK_NULL_HANDLE : buffer_.handle(),
                .offset = offset_,
                .size = bytes_,
                .address = by_address ? buffer_.address() : 0};
    }

   private:
    host::Buffer buffer_;
    size_t bytes_, page_, offset_ = 0;
    std::byte* wall_ = nullptr;
};

}  // namespace vkgemm::test
#endif
