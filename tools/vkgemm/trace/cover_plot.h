// SPDX-License-Identifier: MIT
// A trace as a picture: which work group wrote which elements of D, and within one of them which subgroup and
// invocation; and what of A and B it read. Pure.
#pragma once
#include "trace/trace.h"

namespace vkgemm::tool {

/// Neighbouring cells of the same label, as one rectangle. Label 0 is nothing.
struct Patch {
    uint32_t label;
    uint64_t row, col, rows, cols;
    bool operator==(const Patch&) const = default;
};
std::vector<Patch> patches(const std::vector<uint32_t>& labels, uint64_t cols);

std::string svg(const Trace& t, const std::string& title, const std::string& subtitle);

}  // namespace vkgemm::tool
