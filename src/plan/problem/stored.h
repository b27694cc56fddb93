// SPDX-License-Identifier: MIT
// Arithmetic of sizes that may overflow, and the shape of a matrix in memory.
#pragma once
#include <optional>

#include "plan/problem/types.h"

namespace vkgemm::plan {

/// nullopt: above 2^64.
inline std::optional<uint64_t> times(uint64_t a, uint64_t b) {
    if ((a | b) >> 32 && a && b > UINT64_MAX / a) return std::nullopt;  // a division only where it may be needed
    return a * b;
}
inline std::optional<uint64_t> plus(std::optional<uint64_t> a, std::optional<uint64_t> b) {
    if (!a || !b || *b > UINT64_MAX - *a) return std::nullopt;
    return *a + *b;
}
/// Adds the steps to a span. False: it would be above 2^64. Recording does this for each operand, so it does without
/// optionals.
inline bool add_steps(uint64_t& span, uint64_t steps, uint64_t step) {
    if ((steps | step) >> 32 && steps && step > UINT64_MAX / steps) return false;
    span += steps * step;
    return span >= steps * step;
}

/// `outer` rows (columns, if it is column-major) of `inner` contiguous elements.
struct Stored {
    uint64_t outer, inner;
};
inline Stored stored(const Matrix& x, uint64_t rows, uint64_t cols) {
    return x.layout == rowMajor ? Stored{rows, cols} : Stored{cols, rows};
}

}  // namespace vkgemm::plan
