// SPDX-License-Identifier: MIT
// The order of tiles, what is sent in it, and what runs beside it. No device is needed.
#include "blas/order.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <list>
#include <thread>
#include <tuple>

#include "blas/background.h"
#include "blas/other_process.h"

using namespace vkgemm::blas;

namespace {

/// How many tiles of A and B are sent for this order of C's tiles, if so many fit, and the one not used longest makes
/// room.
size_t sent(const std::vector<size_t>& order, int64_t down, int64_t depth, size_t fit) {
    std::list<std::tuple<bool, int64_t, int64_t>> there;  // the one used last in front
    size_t count = 0;
    for (const size_t t : order)
        for (int64_t l = 0; l < depth; ++l)
            for (const auto& tile : {std::tuple(true, static_cast<int64_t>(t) % down, l),
                                     std::tuple(false, static_cast<int64_t>(t) / down, l)}) {
                const auto found = std::ranges::find(there, tile);
                if (found == there.end())
                    ++count;
                else
                    there.erase(found);
                there.push_front(tile);
                if (there.size() > fit) there.pop_back();
            }
    return count;
}

}  // namespace

TEST_CASE("order: several devices share the tiles, and take what another has left") {
    for (const auto& [down, across] : {std::pair{7, 4}, std::pair{4, 7}, std::pair{1, 1}, std::pair{3, 3}})
        for (const size_t devices : {1u, 2u, 3u}) {
            TileShares shares(down, across, devices);
            std::vector<int> taken(static_cast<size_t>(down * across));
            // The last device takes one tile for two of each other.
            for (size_t turn = 0, count = 0; count < taken.size(); ++turn)
                for (size_t d = 0; d < devices; ++d)
                    if (d + 1 < devices || turn % 2 == 0)
                        if (const auto t = shares.take(d); t) {
                            ++taken.at(*t);
                            ++count;
                        }
            for (const int times : taken) CHECK(times == 1);
            for (size_t d = 0; d < devices; ++d) CHECK(!shares.take(d));
        }
    TileShares two(2, 4, 2);
    CHECK(two.take(0) == 0);  // tile (i, j) is i + 2 j
    CHECK(two.take(1) == 4);
    for (const size_t t : {1u, 2u, 3u}) CHECK(two.take(0) == t);
    CHECK(two.take(0) == 7);                  // the other one's last
    CHECK(TileShares(5, 2, 2).take(1) == 2);  // rows
}

TEST_CASE("order: tiles grow as a square, then column by column, each once") {
    CHECK(order_of_tiles(1, 1) == std::vector<size_t>{0});
    CHECK(order_of_tiles(3, 2) == std::vector<size_t>{0, 1, 3, 4, 2, 5});  // tile (i, j) is i + 3 j
    const auto order = order_of_tiles(9, 10);
    CHECK(order.size() == 90);
    CHECK(order[63] == 7 + 7 * 9);
    CHECK(order[64] == 8);
    auto sorted = order;
    std::ranges::sort(sorted);
    for (size_t t = 0; t < sorted.size(); ++t) CHECK(sorted[t] == t);
}

TEST_CASE("order: A and B that do not fit together are sent in panels") {
    const auto room = [](double tiles, int64_t depth) { return Room{.bytes = tiles, .depth = depth, .a = 1, .b = 1}; };
    CHECK(panels_for(8, 8, room(128, 8)) == Panels{});
    CHECK(panels_for(8, 8, room(56, 8)) == Panels{4, 0});  // two of nearly the same size
    CHECK(panels_for(8, 8, room(40, 8)) == Panels{3, 0});
    CHECK(panels_for(16, 4, room(40, 8)) == Panels{0, 2});  // A is larger, so B stays
    CHECK(panels_for(8, 8, room(0, 8)) == Panels{1, 0});
    for (const auto& [fit, most] : {std::pair{56, 1.45}, std::pair{40, 1.9}, std::pair{30, 3.0}}) {
        const auto order = order_of_tiles(8, 8, panels_for(8, 8, room(fit, 8)));
        auto sorted = order;
        std::ranges::sort(sorted);
        for (size_t t = 0; t < sorted.size(); ++t) CHECK(sorted[t] == t);
        CHECK(static_cast<double>(sent(order, 8, 8, static_cast<size_t>(fit))) <= most * 128);
    }
    CHECK(sent(order_of_tiles(8, 8), 8, 8, 56) > 3.8 * 128);  // without panels
    const auto by_columns = order_of_tiles(16, 4, panels_for(16, 4, room(40, 8)));
    CHECK(sent(by_columns, 16, 8, 40) <= 1.75 * 160);
}

TEST_CASE("order: the first tiles of a device are computed together") {
    TileShares shares(8, 9, 1, false, Room{.depth = 2});
    auto first = shares.take_together(0);
    std::ranges::sort(first);
    REQUIRE(first.size() == 16);
    for (size_t t = 0; t < 16; ++t) CHECK(first[t] == t % 4 + t / 4 * 8);
    CHECK(shares.take_together(0) == std::vector<size_t>{4});
    std::vector<int> taken(72);
    for (const size_t t : first) ++taken[t];
    ++taken[4];
    for (auto next = shares.take_together(0); !next.empty(); next = shares.take_together(0))
        for (const size_t t : next) ++taken[t];
    for (const int times : taken) CHECK(times == 1);
    CHECK(TileShares(3, 9, 1, false, Room{.depth = 2}).take_together(0).size() == 1);
    CHECK(TileShares(8, 9, 1, false, Room{.depth = 1}).take_together(0).size() == 1);  // nothing to gain
    CHECK(TileShares(8, 9, 1, true, Room{.depth = 2}).take_together(0).size() == 1);
    CHECK(TileShares(8, 9, 1, false, Room{.bytes = 56, .depth = 8, .a = 1, .b = 1}).take_together(0).size() == 1);
    TileShares two(4, 8, 2, false, Room{.depth = 2});
    while (two.take(1)) {
    }
    CHECK(two.take_together(0).empty());  // the other one took all
}

TEST_CASE("broadcasts: columns are read from the memory of a process, without the gaps") {
    constexpr int64_t count = 600;  // more than one call takes
    std::vector<std::byte> from(7 * count), to(9 * count, std::byte{77});
    for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i % 251);
    const Columns source{from.data(), 5, 7}, target{to.data(), 5, 9};
    REQUIRE(read_columns(getpid(), source, target, 0, count));
    for (size_t j = 0; j < count; ++j)
        for (size_t i = 0; i < 9; ++i) CHECK(to[9 * j + i] == (i < 5 ? from[7 * j + i] : std::byte{77}));
    CHECK(!read_columns(getpid(), {nullptr, 5, 7}, target, 0, 1));
    CHECK(!read_columns(-1, source, target, 0, 1));

    std::vector<std::byte> large(8 << 20, std::byte{5}), copy(large.size());  // 2 GiB in all, more than one call copies
    CHECK(read_columns(getpid(), {large.data(), large.size(), 0}, {copy.data(), copy.size(), 0}, 0, 256));
    CHECK(copy == large);
}

TEST_CASE("background: tasks run one after the other, and none while the process forks") {
    std::atomic<int> sum = 0;
    Background& all = background();
    for (int i = 1; i <= 3; ++i) all.add([&sum, i] { sum = 10 * sum + i; }, true);
    const auto wait_for = [&](int wanted) {
        while (sum != wanted) std::this_thread::sleep_for(std::chrono::milliseconds(1));  // ctest ends it otherwise
        return true;
    };
    CHECK(wait_for(123));
    all.before_fork();
    std::thread other([&] { all.add([&sum] { sum = 5; }, false); });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    CHECK(sum == 123);
    all.in_parent();
    other.join();
    CHECK(wait_for(5));
}
