// SPDX-License-Identifier: MIT
// Tensor maps against words that the driver's encoder made on an H200 (for f16, here u16, and without a promotion in
// L2), and fields that tensormap.replace wrote there.
#include "plan/native/tensor_map.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>

using namespace vkgemm;

namespace {

constexpr uint64_t f16_and_no_promotion = 0x300, u16_and_promotion = 0x80 | 0x40000;

struct Encoded {
    plan::TensorShape shape;
    std::array<uint64_t, 10> words;  // the rest is 0
};

}  // namespace

TEST_CASE("tensor maps are those of the driver") {
    const Encoded encoded[] = {
        {{0x7f0828000000, 2, {1000, 77, 5}, {2016, 160000}, {64, 64}},
         {0x7f0828000000, 0x7e00006320, 0x2710, 0, 0x4c000003e7, 4, 0x3f00000000000000, 0x3f, 0x2000, 0x400}},
        {{0x7f0828000000, 2, {1000, 77, 5}, {2016, 2016000}, {64, 128}},
         {0x7f0828000000, 0x7e00006320, 0x1ec30, 0, 0x4c000003e7, 4, 0x3f00000000000000, 0x7f, 0x4000, 0x400}},
        {{0x7f0828000000, 2, {1000, 77, 5}, {2016, 16}, {64, 128}},
         {0x7f0828000000, 0x7e00006320, 1, 0, 0x4c000003e7, 4, 0x3f00000000000000, 0x7f, 0x4000, 0x400}},
    };
    for (const Encoded& e : encoded) {
        const native::TensorMap map = plan::tensor_map(e.shape);
        auto words = e.words;
        words[1] = (words[1] & ~f16_and_no_promotion) | u16_and_promotion;
        CHECK(std::equal(words.begin(), words.end(), map.words));
        CHECK(std::all_of(map.words + words.size(), std::end(map.words), [](uint64_t w) { return w == 0; }));
    }
}

TEST_CASE("tensor maps hold the longest strides and the largest sizes") {
    const native::TensorMap map =
        plan::tensor_map({~uint64_t{0}, 4, {1, 0xffffffff, 0x12345678}, {0xfffffffff0, 0x7ffffffff0}, {32, 256}});
    CHECK(map.words[0] == ~uint64_t{0});
    CHECK((map.words[1] >> 32) == 0xffffffff);
    CHECK((map.words[1] & 0x780) == 0x100);  // u32
    CHECK(map.words[2] == 0xffffffff);
    CHECK(map.words[3] == 0x0000007f00000000);
    CHECK(map.words[4] == 0xfffffffe00000000);
    CHECK(map.words[5] == 0x12345677);
    CHECK(map.words[6] == 0x1f00000000000000);
    CHECK(map.words[7] == 0xff);
}
