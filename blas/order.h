// SPDX-License-Identifier: MIT
// In which order the tiles of C are computed. Pure.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace vkgemm::blas {

/// The order of `down` x `across` tiles, which are numbered column by column. The first eight rows and columns grow as
/// a square: each step sends a row of A's tiles and a column of B's, and has more to multiply than the step before, so
/// that sending and computing overlap. Then column by column, for operands that do not fit the device together.
inline std::vector<size_t> order_of_tiles(int64_t down, int64_t across) {
    constexpr int64_t square = 8;
    std::vector<size_t> order(static_cast<size_t>(down * across));
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, {}, [down](size_t t) {
        const int64_t i = static_cast<int64_t>(t) % down, j = static_cast<int64_t>(t) / down;
        return std::max(i, j) < square ? std::max(i, j) : square + j;
    });
    return order;
}

}  // namespace vkgemm::blas
