// SPDX-License-Identifier: MIT
// The batch of a problem as nested levels, and which of them a kernel, m and n take.
#pragma once
#include <array>
#include <cstddef>

#include "plan/problem/types.h"

namespace vkgemm::plan {

/// `count` products; from one to the next each operand moves by its stride.
struct Level {
    uint64_t count = 1;
    std::array<uint64_t, 4> stride{};  // elements, of A, B, C and D; 0: the level shares one matrix
    uint64_t rows = 0, columns = 0;    // likewise, of operands with an element for each row, or column, of D

    bool operator==(const Level&) const = default;
};

/// Of two levels of the batch, each split in two where products share matrices (ratios), and of m, n, k and the
/// kernel's batch, where they are cut.
struct Levels {
    static constexpr size_t most = 8;

    std::array<Level, most> level{};
    size_t count = 0;

    void add(const Level&);  // unless it has one product
    void remove(size_t);
    const Level* begin() const { return level.data(); }
    const Level* end() const { return begin() + count; }
    bool operator==(const Levels&) const = default;
};

/// Those of a completed problem that have more than one product, innermost first.
Levels levels_of(const Problem& completed);

/// The same without the groups of products that share a matrix on the inner level, whose number varies with the batch.
Levels levels_beside_batch(const Problem& completed);

/// Merges levels of a problem with a row-major D: two into one where every operand goes on as it does within the inner
/// one; one into m (n), which grows, where it shares B (A) and the rows (columns) of the others are equally far apart.
/// The latter neither if that size varies, nor if the epilogue has an operand with an element for each row (column).
void merge_levels(Problem&, Levels&);

/// Gives the kernel one level, which becomes the problem's batch: the one of most products, or, of those that move an
/// operand that comes packed, the one of most. What is left are dispatches: outerBatch becomes their number, and the
/// outer strides become numbers that all steps of an operand from one of them to the next are multiples of.
void give_kernel_level(Problem&, Levels&);
/// The same with the level of a batch that varies: the kernel gets the groups of products that share a matrix.
void give_kernel_batch(Problem&, const Levels& others);
/// Undoes that: the kernel has other uses for its batch (VKGEMM_ACCURACY_F64_SPLIT). The level is the first one; if the
/// batch varies, even if it has one product.
void take_level_from_kernel(Problem&, Levels&);

}  // namespace vkgemm::plan
