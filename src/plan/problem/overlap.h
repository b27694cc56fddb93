// SPDX-License-Identifier: MIT
// Whether two operands share elements. Two views of one large matrix may span the same bytes and share none.
#pragma once
#include <cstdint>

namespace vkgemm::plan {

/// Bytes that a batch of stored matrices touches: `runs` of `run_bytes`, `pitch` apart, from `begin`.
struct Footprint {
    uint64_t begin, end;        // the whole span
    uint64_t run_bytes, pitch;  // of neighbouring elements, and from one run to the next
    uint64_t stride;            // from one matrix of the batch to the next; 0: one matrix
};

/// False only if it is certain that they share no byte.
constexpr bool may_overlap(const Footprint& x, const Footprint& y) {
    if (x.begin == x.end || y.begin == y.end || x.end <= y.begin || y.end <= x.begin) return false;
    if (x.pitch != y.pitch || x.pitch == 0 || x.stride % x.pitch || y.stride % y.pitch) return true;
    const uint64_t pitch = x.pitch;
    const uint64_t shift = (y.begin % pitch + pitch - x.begin % pitch) % pitch;  // where y's runs begin, seen from x's
    return !(shift >= x.run_bytes && shift + y.run_bytes <= pitch);
}

}  // namespace vkgemm::plan
