// SPDX-License-Identifier: MIT
// Sets of indices as sums of strided ranges, "64·(0~3) + (0~15)": the product of a few loops, found from the set alone.
// Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace vkgemm::tool {

struct Range {
    uint64_t stride, count;
    bool operator==(const Range&) const = default;
};

/// base + stride·(0~count-1) + ...; the widest stride first.
struct IndexSum {
    uint64_t base = 0;
    std::vector<Range> ranges;
    bool operator==(const IndexSum&) const = default;
};

/// The set as one sum that yields every element once; nothing if there is none. `indices` are ascending.
std::optional<IndexSum> index_sum_of(const std::vector<uint64_t>& indices);

/// "128·(0~1) + (0~15)"; a set that is not one sum as a union of a few, or in words.
std::string index_set_text(const std::vector<uint64_t>& indices);
std::string to_text(const IndexSum&);

}  // namespace vkgemm::tool
