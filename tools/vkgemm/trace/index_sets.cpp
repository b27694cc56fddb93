// SPDX-License-Identifier: MIT
#include "trace/index_sets.h"

#include <algorithm>
#include <map>

namespace vkgemm::tool {
namespace {

using Indices = std::vector<uint64_t>;

/// How many elements follow one another at `stride`, from the first.
size_t run_length(const Indices& s, uint64_t stride) {
    size_t n = 1;
    while (std::ranges::binary_search(s, s[0] + n * stride)) ++n;
    return n;
}

/// The first elements of the runs of `count` at `stride` that together are `s`; empty: there are no such runs.
Indices starts(const Indices& s, uint64_t stride, size_t count) {
    Indices out;
    std::vector<bool> taken(s.size());
    for (size_t i = 0; i < s.size(); ++i) {
        if (taken[i]) continue;
        out.push_back(s[i]);
        for (size_t j = 1; j < count; ++j) {
            const auto at = std::ranges::lower_bound(s, s[i] + j * stride);
            const auto place = static_cast<size_t>(at - s.begin());
            if (at == s.end() || *at != s[i] + j * stride || taken[place]) return {};
            taken[place] = true;
        }
    }
    return out;
}

/// The ranges of a set, the narrowest stride first. Its two least elements belong to one range, of the least stride.
bool split(const Indices& s, std::vector<Range>& out) {  // NOLINT(misc-no-recursion): once for each range
    if (s.size() == 1) return true;
    const uint64_t stride = s[1] - s[0];
    for (size_t count = run_length(s, stride); count > 1; --count) {
        if (s.size() % count != 0) continue;
        const Indices rest = starts(s, stride, count);
        if (rest.empty()) continue;
        out.push_back({stride, count});
        if (split(rest, out)) return true;
        out.pop_back();
    }
    return false;
}

}  // namespace

std::optional<IndexSum> index_sum_of(const Indices& indices) {
    if (indices.empty()) return std::nullopt;
    IndexSum b{indices[0], {}};
    if (!split(indices, b.ranges)) return std::nullopt;
    std::ranges::reverse(b.ranges);
    return b;
}

std::string to_text(const IndexSum& b) {
    std::string text = b.base || b.ranges.empty() ? std::to_string(b.base) : "";
    for (const Range& r : b.ranges) {
        if (!text.empty()) text += " + ";
        if (r.stride != 1) text += std::to_string(r.stride) + "·";
        text += "(0~" + std::to_string(r.count - 1) + ")";
    }
    return text;
}

std::string index_set_text(const Indices& indices) {
    if (indices.empty()) return "nothing";
    if (const auto one = index_sum_of(indices)) return to_text(*one);
    // Neighbours, by how many there are of them: a tile that is cut off at an edge falls into two or three kinds.
    std::map<size_t, Indices> kinds;
    for (size_t i = 0, end = 0; i < indices.size(); i = end) {
        for (end = i + 1; end < indices.size() && indices[end] == indices[end - 1] + 1;) ++end;
        Indices& kind = kinds[end - i];
        kind.insert(kind.end(), indices.begin() + static_cast<std::ptrdiff_t>(i),
                    indices.begin() + static_cast<std::ptrdiff_t>(end));
    }
    std::string text;
    for (const auto& [length, kind] : kinds) {
        const auto part = index_sum_of(kind);
        if (!part || kinds.size() > 3)
            return std::to_string(indices.size()) + " elements from " + std::to_string(indices.front()) + " to " +
                   std::to_string(indices.back()) + ", no sum of ranges";
        text += (text.empty() ? "" : " ∪ ") + to_text(*part);
    }
    return text;
}

}  // namespace vkgemm::tool
