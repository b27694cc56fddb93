// SPDX-License-Identifier: MIT
// In which order the tiles of C are computed, and by which device.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace vkgemm::blas {

/// What operands take on the device. A tile of C is the sum of `depth` products of tiles, of so many bytes of A and B.
struct Room {
    double bytes = HUGE_VAL;
    int64_t depth = 1;
    double a = 0, b = 0;
};

/// C is computed in panels of so many rows (columns) of tiles; the last one may have fewer. 0: in one.
struct Panels {
    int64_t rows = 0, columns = 0;
    bool operator==(const Panels&) const = default;
};

/// One panel if A and B fit together. Otherwise those for which the least is sent: A once, while it stays on the device
/// for a panel of rows, and B for each panel; or the other way round. Beside the part that stays there is room for one
/// and a half columns (rows) of the tiles that pass by.
inline Panels panels_for(int64_t down, int64_t across, const Room& room) {
    const double m = static_cast<double>(down), n = static_cast<double>(across),
                 depth = static_cast<double>(room.depth);
    if (depth * (m * room.a + n * room.b) <= room.bytes) return {};
    const auto panel = [&](double all, double stays, double passes) {
        const double most = std::max(1.0, std::floor((room.bytes / depth - 1.5 * passes) / stays));
        return std::ceil(all / std::ceil(all / std::min(all, most)));  // of nearly the same size
    };
    const double rows = panel(m, room.a, room.b), columns = panel(n, room.b, room.a);
    const double by_rows = m * room.a + n * room.b * std::ceil(m / rows);
    const double by_columns = n * room.b + m * room.a * std::ceil(n / columns);
    return by_rows <= by_columns ? Panels{static_cast<int64_t>(rows), 0} : Panels{0, static_cast<int64_t>(columns)};
}

/// The order of `down` x `across` tiles, which are numbered column by column. The first eight rows and columns grow as
/// a square: each step sends a row of A's tiles and a column of B's, and has more to multiply than the step before, so
/// that sending and computing overlap. Then column by column. Panels follow each other, each column by column; every
/// second one backwards, so that it begins with what the device still has.
inline std::vector<size_t> order_of_tiles(int64_t down, int64_t across, const Panels& panels = {}) {
    const bool by_columns = panels.columns > 0, all = !by_columns && panels.rows == 0;
    const int64_t square = all ? 8 : 1, along = by_columns ? down : across;
    const int64_t size = by_columns ? panels.columns : all ? std::max<int64_t>(1, down) : panels.rows;
    std::vector<size_t> order(static_cast<size_t>(down * across));
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, {}, [&](size_t t) {
        int64_t i = static_cast<int64_t>(t) % down, j = static_cast<int64_t>(t) / down;  // j: along the panel
        if (by_columns) std::swap(i, j);
        const int64_t panel = i / size;
        i %= size;
        if (panel % 2 == 1) j = along - 1 - j;
        return std::pair(panel, std::max(i, j) < square ? std::max(i, j) : square + j);
    });
    return order;
}

/// Deals the tiles of C to devices. Each has a block of columns of tiles, or of rows if there are more of those, in the
/// order above. One that has done its own takes the last tile of the device with the most left, so that devices of
/// different speed end together. Any thread may take.
class TileShares {
   public:
    /// `fixed`: none takes another's tiles, so that each tile is the same device's in every call. `room`: of a device.
    TileShares(int64_t down, int64_t across, size_t devices, bool fixed = false, const Room& room = {})
        : shares_(devices), fixed_(fixed) {
        const bool by_rows = down > across;
        const int64_t all = by_rows ? down : across, count = static_cast<int64_t>(devices);
        for (int64_t d = 0; d < count; ++d) {
            const int64_t begin = all * d / count, size = all * (d + 1) / count - begin;
            Share& share = shares_[static_cast<size_t>(d)];
            const int64_t own_rows = by_rows ? size : down, own_columns = by_rows ? across : size;
            const Panels panels = panels_for(own_rows, own_columns, room);
            share.tiles = order_of_tiles(own_rows, own_columns, panels);
            share.back = share.tiles.size();
            if (panels == Panels{} && !fixed && room.depth > 1)
                share.square = std::min<int64_t>(4, std::min(own_rows, own_columns) / 2);
            for (size_t& t : share.tiles) {  // of the block, to of C
                const int64_t rows = by_rows ? size : down, i = static_cast<int64_t>(t) % rows,
                              j = static_cast<int64_t>(t) / rows;
                t = static_cast<size_t>(by_rows ? begin + i + j * down : i + (begin + j) * down);
            }
        }
    }

    /// The first tiles of the device, if those are a square that it is to compute together; then one at a time. With
    /// all their products of one depth after the other, each tile of A and B that is sent has several to multiply.
    std::vector<size_t> take_together(size_t device) {
        {
            const std::lock_guard lock(mutex_);
            Share& own = shares_[device];
            const auto count = static_cast<size_t>(own.square * own.square);
            if (own.front == 0 && count > 1 && count <= own.back) {
                own.front = count;
                return {own.tiles.begin(), own.tiles.begin() + own.square * own.square};
            }
        }
        const auto one = take(device);
        return one ? std::vector{*one} : std::vector<size_t>{};
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
        int64_t square = 0;          // of the first tiles: so many rows and columns
    };
    std::mutex mutex_;
    std::vector<Share> shares_;
    const bool fixed_;
};

}  // namespace vkgemm::blas
