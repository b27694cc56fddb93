// SPDX-License-Identifier: MIT
// In which order the tiles of C are computed, and by which device.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <numeric>
#include <optional>
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

/// Deals the tiles of C to devices. Each has a block of columns of tiles, or of rows if there are more of those, in the
/// order above. One that has done its own takes the last tile of the device with the most left, so that devices of
/// different speed end together. Any thread may take.
class TileShares {
   public:
    /// `fixed`: none takes another's tiles, so that each tile is the same device's in every call.
    TileShares(int64_t down, int64_t across, size_t devices, bool fixed = false) : shares_(devices), fixed_(fixed) {
        const bool by_rows = down > across;
        const int64_t all = by_rows ? down : across, count = static_cast<int64_t>(devices);
        for (int64_t d = 0; d < count; ++d) {
            const int64_t begin = all * d / count, size = all * (d + 1) / count - begin;
            Share& share = shares_[static_cast<size_t>(d)];
            share.tiles = by_rows ? order_of_tiles(size, across) : order_of_tiles(down, size);
            share.back = share.tiles.size();
            for (size_t& t : share.tiles) {  // of the block, to of C
                const int64_t rows = by_rows ? size : down, i = static_cast<int64_t>(t) % rows,
                              j = static_cast<int64_t>(t) / rows;
                t = static_cast<size_t>(by_rows ? begin + i + j * down : i + (begin + j) * down);
            }
        }
    }

    std::optional<size_t> take(size_t device) {
        const std::lock_guard lock(mutex_);
        if (Share& own = shares_[device]; own.front < own.back) return own.tiles[own.front++];
        if (fixed_) return {};
        const auto left = [](const Share& s) { return s.back - s.front; };
        Share& most = *std::ranges::max_element(shares_, {}, left);
        if (left(most) == 0) return {};
        return most.tiles[--most.back];
    }

    /// Whether the tile was dealt to this device.
    bool has(size_t device, size_t tile) const { return std::ranges::count(shares_[device].tiles, tile) > 0; }

   private:
    struct Share {
        std::vector<size_t> tiles{};
        size_t front = 0, back = 0;  // those that are left
    };
    std::mutex mutex_;
    std::vector<Share> shares_;
    const bool fixed_;
};

}  // namespace vkgemm::blas
