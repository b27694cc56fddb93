// SPDX-License-Identifier: MIT
// The registers of a device, as its compiler gives them out. No driver reports them before it has compiled something.
#pragma once
#include <cstdint>
#include <string_view>

namespace vkgemm::plan {

struct DeviceCaps;

/// A row of registers.def, which explains the members.
struct Registers {
    uint32_t vendor = 0;
    std::string_view name;
    uint32_t of_invocation = 0;  // 0: not known
    uint32_t of_group = 0;
    uint32_t fragment_copies = 1;
    bool keeps_loaded = false;
    uint32_t more_at_edges = 0;
    double moves = 0;

    /// The most that an invocation has in a work group of so many.
    constexpr double limit(uint32_t invocations) const {
        const double share = double(of_group) / invocations;
        return share < of_invocation ? share : of_invocation;
    }
};

/// Those of the device; of_invocation is 0 if no row is its.
Registers registers_of(const DeviceCaps&);

}  // namespace vkgemm::plan
