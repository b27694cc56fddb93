// SPDX-License-Identifier: MIT
// Random tensors as ggml describes them, in memory of their own whose other bytes are poisoned.
#pragma once
#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

#include "support/device.h"
#include "support/random.h"
#include "vkgemm/formats.hpp"
#include "vkgemm_ggml/adapter.h"

namespace vkgemm::test {

using Sizes4 = std::array<uint64_t, 4>;

/// A buffer that the host sees and every case uses anew.
class Arena {
   public:
    static constexpr uint64_t most_bytes = 1 << 21;
    Arena();
    VkBuffer handle() const { return buffer_.handle(); }
    std::span<std::byte> bytes() const { return buffer_.mapped().first(most_bytes); }

   private:
    host::Buffer buffer_;
};

/// How a tensor lies in memory.
struct Lie {
    std::array<size_t, 4> order = {0, 1, 2, 3};  // of the dimensions, from the innermost to the outermost
    std::array<uint64_t, 4> gap{};               // elements, or blocks, between one and the next, by dimension
    uint64_t offset = 1024;                      // bytes
};

/// A tensor with the bytes that a buffer should have.
struct Filled {
    ggml::Tensor tensor;
    std::vector<std::byte> bytes;  // from the buffer's beginning to some way beyond the last element

    Filled(VkgemmType type, const Sizes4& ne, const Lie& lie, VkBuffer buffer);
    uint64_t at(uint64_t i0, uint64_t i1, uint64_t i2, uint64_t i3) const;  // the byte of an element, or of its block
    std::vector<double> numbers() const;                                    // dimension 0 is the innermost
    /// Small whole numbers, not 0 alone, that every type holds exactly.
    void fill(Random& random);
};

std::unique_ptr<ggml::Adapter> new_adapter(const ggml::Options& options);

/// One adapter for all cases, which takes all that it can; it is destroyed before the device is closed.
ggml::Adapter& adapter();

}  // namespace vkgemm::test
