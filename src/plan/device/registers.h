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
    double more_if_narrow = 0;
    double moves = 0;
    bool by_subgroup = false;

    /// The most that an invocation has in a work group of so many, in subgroups so many times as wide as the narrowest.
    constexpr double limit(uint32_t invocations, uint32_t widths = 1) const {
        const double share = double(of_group) / invocations, own = double(of_invocation) / (by_subgroup ? widths : 1);
        return share < own ? share : own;
    }
};

/// Those of the device; of_invocation is 0 if no row is its.
Registers registers_of(const DeviceCaps&);

}  // namespace vkgemm::plan
