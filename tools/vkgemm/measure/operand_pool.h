// SPDX-License-Identifier: MIT
// Memory for timing many problems one after the other: random operands that are made once, and places to write to.
#pragma once
#include <cstddef>
#include <map>
#include <vector>

#include "measure/cases.h"
#include "vkgemm/host.hpp"

namespace vkgemm::tool {

/// Operands of one problem, in several sets that are used in turn, so that no cache holds the next one.
struct PooledOperands {
    struct Slot {
        host::Buffer buffer;
        VkDeviceSize begin = 0, bytes = 0, stride = 0;
        Operand operand(size_t set) const { return buffer.operand(begin + set * stride, bytes); }
    };
    Slot a, b, d;
    host::Buffer workspace;  // no handle: none
    size_t sets = 1;

    Run run(size_t turn) const;
};

class OperandPool {
   public:
    explicit OperandPool(const host::Device& device) : device_(device) {}

    /// For a problem without C, epilogue and groups. A and B are random, overlap nothing, and must not be written to;
    /// `cold`: in as many sets as no cache holds. Refused if the device has no such memory.
    Result<PooledOperands> operands(const Case& c, bool cold, uint64_t workspace_bytes);

   private:
    Result<host::Buffer> at_least(host::Buffer& kept, VkDeviceSize bytes);
    Result<host::Buffer> random(Type type, VkDeviceSize bytes);

    const host::Device& device_;
    struct RandomElements {
        std::vector<std::byte> period;  // repeated all over the buffer
        host::Buffer buffer;
    };
    std::map<Type, RandomElements> random_;
    host::Buffer results_, workspace_;
};

}  // namespace vkgemm::tool
