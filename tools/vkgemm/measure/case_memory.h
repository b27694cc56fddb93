// SPDX-License-Identifier: MIT
// The host's memory that measuring a case takes. Pure.
#pragma once
#include "measure/cases.h"
#include "measure/machine.h"

namespace vkgemm::tool {

/// What is done with a case.
struct MemoryUse {
    bool check = true, timing = true;
    bool shared = false;  // the device's memory is the host's, as on a CPU
    size_t sets = 1;      // of operands that timed runs use in turn
};

/// Bytes of A, B, C and D. These and the next are at most 2^63.
uint64_t operand_bytes(const Resolved& r);
/// Bytes of all copies that the host holds at the same time.
uint64_t host_bytes(const Resolved& r, const MemoryUse& use);
/// The same with what the driver takes.
uint64_t needed_memory(const Resolved& r, const MemoryUse& use);

/// Refused if they are more than what is left: with the sizes of both and what would do with less.
Status refused_memory(const Case& c, const Resolved& r, const MemoryUse& use, const MemoryLeft& left);

}  // namespace vkgemm::tool
