// SPDX-License-Identifier: MIT
// Elements as the tool writes and reads them.
#include "tools/vkgemm/measure/numbers.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <new>
#include <set>

#include "tools/vkgemm/measure/in_parallel.h"

using namespace vkgemm;
using namespace vkgemm::tool;
using vkgemm::Type;

namespace {

uint64_t bits(Type type, double value) {
    std::array<std::byte, 8> bytes{};
    encode(type, value, bytes.data());
    uint64_t out = 0;
    std::memcpy(&out, bytes.data(), type_info(type).bytes);
    return out;
}
double back(Type type, uint64_t word) {
    std::array<std::byte, 8> bytes{};
    std::memcpy(bytes.data(), &word, sizeof word);
    return decode(type, bytes.data());
}

}  // namespace

TEST_CASE("known numbers have the bits that everybody gives them") {
    const struct {
        Type type;
        double value;
        uint64_t bits;
    } rows[] = {
        {vkgemm::f16, 1, 0x3c00},
        {vkgemm::f16, -2, 0xc000},
        {vkgemm::f16, 65504, 0x7bff},
        {vkgemm::f16, 65519, 0x7bff},
        {vkgemm::f16, 65520, 0x7c00},
        {vkgemm::f16, -1e6, 0xfc00},
        {vkgemm::f16, 0x1p-24, 0x0001},
        {vkgemm::f16, 0x1p-25, 0x0000},
        {vkgemm::f16, 0x1.8p-25, 0x0001},
        {vkgemm::f16, 0x1p-14, 0x0400},
        {vkgemm::f16, 0x1.ffep-15, 0x0400},
        {vkgemm::f16, 1 + 0x1p-11, 0x3c00},
        {vkgemm::f16, 1 + 0x3p-11, 0x3c02},
        {vkgemm::bf16, 1, 0x3f80},
        {vkgemm::bf16, 1 + 0x1p-8, 0x3f80},
        {vkgemm::bf16, 1 + 0x3p-8, 0x3f82},
        {vkgemm::bf16, -0.0, 0x8000},
        {vkgemm::bf16, INFINITY, 0x7f80},
        {vkgemm::f32, 1, 0x3f800000},
        {vkgemm::f64, 1, 0x3ff0000000000000},
        {vkgemm::i32, -1, 0xffffffff},
        {vkgemm::i8, -128, 0x80},
        {vkgemm::i8, 255, 0xff},
        {vkgemm::u8, 255, 0xff},
        {vkgemm::u8, 256, 0x00},
        {vkgemm::i32, 4294967296.0 + 7, 7},
    };
    for (const auto& row : rows) {
        CAPTURE(row.value);
        CHECK(bits(row.type, row.value) == row.bits);
    }
    CHECK(std::isnan(back(vkgemm::f16, bits(vkgemm::f16, NAN))));
    CHECK(std::isnan(back(vkgemm::bf16, bits(vkgemm::bf16, NAN))));
}

TEST_CASE("every 8- and 16-bit word comes back as it was") {
    for (const Type type : {vkgemm::f16, vkgemm::bf16, vkgemm::i8, vkgemm::u8})
        for (uint64_t word = 0; word < uint64_t{1} << (8 * type_info(type).bytes); ++word) {
            const double value = back(type, word);
            if (!std::isnan(value)) REQUIRE(bits(type, value) == word);
        }
}

TEST_CASE("poison is NaN in every float type, and random numbers repeat") {
    for (const Type type : {vkgemm::f16, vkgemm::bf16, vkgemm::f32, vkgemm::f64})
        CHECK(std::isnan(back(type, poison(type) | uint64_t{poison(type)} << 32)));
    Random first{1}, again{1}, other{2};
    CHECK(first.next() == 0x910a2dec89025cc1u);  // as splitmix64 is published
    CHECK(again.next() == 0x910a2dec89025cc1u);
    CHECK(other.next() != 0x910a2dec89025cc1u);
    double least = 0, most = 0;
    std::set<double> seen;
    for (int i = 0; i < 1000; ++i) {
        const double x = random_value(vkgemm::f32, first);
        least = std::min(least, x);
        most = std::max(most, x);
        seen.insert(x);
    }
    CHECK((least >= -1 && least < -0.9 && most < 1 && most > 0.9));
    CHECK(seen.size() > 990);
    again.skip(1000);  // each number takes one
    CHECK(again.next() == first.next());
}

TEST_CASE("first_found: the least of all, whichever thread finds its own first; what is thrown arrives") {
    const auto found = [](uint64_t count, std::set<uint64_t> wrong) {
        return first_found(
            count, 1, [&](uint64_t i) { return wrong.count(i) ? std::optional(std::to_string(i)) : std::nullopt; });
    };
    CHECK(found(1000, {}) == std::nullopt);
    CHECK(found(0, {0}) == std::nullopt);
    CHECK(found(1000, {999, 998}) == "998");
    for (int turn = 0; turn < 20; ++turn) CHECK(found(1000, {999, 500, 501, 3, 4}) == "3");
    const auto fails = [](uint64_t i) -> std::optional<std::string> {
        if (i == 700) throw std::bad_alloc();
        return std::nullopt;
    };
    CHECK_THROWS_AS(first_found(1000, 1, fails), std::bad_alloc);
}
