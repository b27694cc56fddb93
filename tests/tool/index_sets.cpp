// SPDX-License-Identifier: MIT
// Index sets as sums of strided ranges: found whatever the loops were, and never claimed of what is none.
#include "tools/vkgemm/trace/index_sets.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "support/random.h"

using namespace vkgemm::tool;

namespace {

std::vector<uint64_t> expanded(const IndexSum& b) {
    std::vector<uint64_t> all = {b.base};
    for (const Range& r : b.ranges) {
        std::vector<uint64_t> more;
        for (const uint64_t i : all)
            for (uint64_t j = 0; j < r.count; ++j) more.push_back(i + j * r.stride);
        all = more;
    }
    std::ranges::sort(all);
    return all;
}

}  // namespace

TEST_CASE("index sets: what texts write, from the set alone") {
    const auto text = [](const IndexSum& b) { return index_set_text(expanded(b)); };
    CHECK(text({0, {{256, 8}, {1, 4}}}) == "256·(0~7) + (0~3)");
    CHECK(text({5, {{100, 3}}}) == "5 + 100·(0~2)");
    CHECK(text({128, {}}) == "128");
    CHECK(text({0, {}}) == "0");
    // Ranges that join up are one: this is what shows that nothing is skipped or fetched twice.
    CHECK(text({0, {{128, 2}, {64, 2}, {16, 4}, {1, 16}}}) == "(0~255)");
    CHECK(text({0, {{512, 2}, {64, 2}, {16, 2}, {1, 16}}}) == "512·(0~1) + 64·(0~1) + (0~31)");
    CHECK(text({0, {{2, 2}, {8, 3}}}) == "8·(0~2) + 2·(0~1)");
    CHECK(index_set_text({}) == "nothing");
}

TEST_CASE("index sets: interleaved ranges are found, too") {
    CHECK(index_sum_of({0, 2, 3, 4, 5, 7}) == IndexSum{0, {{3, 2}, {2, 3}}});  // 0 2 4 and, 3 further, the same
}

TEST_CASE("index sets: what is not a product of ranges is a union, or described in words") {
    CHECK(!index_sum_of({0, 1, 3}));
    CHECK(index_set_text({0, 1, 2, 3, 10, 11, 20, 21}) == "10 + 10·(0~1) + (0~1) ∪ (0~3)");
    CHECK(index_set_text({0, 3, 4, 5, 9, 10, 20, 77}) == "8 elements from 0 to 77, no sum of ranges");
}

TEST_CASE("index sets: any sum of ranges comes back as the same set") {
    vkgemm::test::Random random(1);
    for (int i = 0; i < 500; ++i) {
        CAPTURE(i);
        IndexSum b{random.below(100), {}};
        uint64_t stride = 1 + random.below(4);
        for (uint64_t n = random.below(4); n > 0; --n) {
            const uint64_t count = 2 + random.below(5);
            b.ranges.insert(b.ranges.begin(), {stride, count});
            stride *= count;
            stride += random.below(2) * random.below(50);
        }
        const std::vector<uint64_t> set = expanded(b);
        REQUIRE(std::ranges::adjacent_find(set) == set.end());
        const auto found = index_sum_of(set);
        REQUIRE(found);
        CHECK(expanded(*found) == set);
        CHECK(found->ranges.size() <= b.ranges.size());
    }
}
