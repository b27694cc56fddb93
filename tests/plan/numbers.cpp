// SPDX-License-Identifier: MIT
// Elements as numbers: a wrong encoder would make every kernel look wrong, or right.
#include "support/numbers.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include "plan/repeated.h"
#include "support/golden_blocks.h"
#include "support/reference.h"
#include "vkgemm/formats.hpp"

using namespace vkgemm::test;
using namespace vkgemm::plan;

namespace {

uint16_t bits16(Type type, double value) {
    std::byte bytes[2];
    encode(type, value, bytes);
    uint16_t bits;
    std::memcpy(&bits, bytes, 2);
    return bits;
}

double value16(Type type, uint16_t bits) {
    std::byte bytes[2];
    std::memcpy(bytes, &bits, 2);
    return decode(type, bytes);
}

}  // namespace

TEST_CASE("every 16-bit pattern survives decode and encode") {
    for (const Type type : {f16, bf16}) {
        int wrong = 0;
        for (uint32_t bits = 0; bits < 65536; ++bits) {
            const double value = value16(type, static_cast<uint16_t>(bits));
            if (!std::isnan(value) && bits16(type, value) != bits) ++wrong;
            if (std::isnan(value) && !std::isnan(value16(type, bits16(type, value)))) ++wrong;
        }
        CHECK(wrong == 0);
    }
}

TEST_CASE("bf16 is the upper half of f32") {
    int wrong = 0;
    for (uint32_t bits = 0; bits < 65536; ++bits) {
        const uint32_t whole = bits << 16;
        float value;
        std::memcpy(&value, &whole, 4);
        if (!std::isnan(value) && value16(bf16, static_cast<uint16_t>(bits)) != static_cast<double>(value)) ++wrong;
    }
    CHECK(wrong == 0);
}

TEST_CASE("f16 values that are known by heart") {
    const struct {
        double value;
        uint16_t bits;
    } rows[] = {
        {1, 0x3c00},         {-2, 0xc000},          {65504, 0x7bff},
        {65519, 0x7bff},  // the last that rounds down
        {65520, 0x7c00},  // half way to 65536 goes to even: infinity
        {1e300, 0x7c00},     {-1e300, 0xfc00},      {0x1p-14, 0x0400},
        {0x1p-24, 0x0001},   {0x1p-25, 0x0000},  // half the smallest subnormal: a tie, to even
        {0x1.8p-25, 0x0001}, {1 + 0x1p-11, 0x3c00}, {1 + 0x3p-11, 0x3c02},
        {0, 0x0000},         {-0.0, 0x8000},
    };
    for (const auto& row : rows) {
        CAPTURE(row.value);
        CHECK(bits16(f16, row.value) == row.bits);
    }
}

TEST_CASE("rounding carries into the exponent") {
    CHECK(rounded(f16, 2 - 0x1p-12) == 2);
    CHECK(rounded(bf16, 2 - 0x1p-9) == 2);
    CHECK(rounded(f16, 0x1p-14 - 0x1p-26) == 0x1p-14);  // from subnormal to normal
    CHECK(rounded(bf16, largest(f32)) == std::numeric_limits<double>::infinity());
}

TEST_CASE("integers wrap and keep their sign") {
    CHECK(rounded(i32, 2147483648.0) == -2147483648.0);
    CHECK(rounded(i32, -1) == -1);
    CHECK(rounded(i8, 200) == -56);
    CHECK(rounded(i8, -128) == -128);
    CHECK(rounded(u8, -1) == 255);
}

TEST_CASE("poison is NaN, or big and odd") {
    for (const auto& row : vkgemm::plan::type_info) {
        CAPTURE(row.name);
        std::byte bytes[8];
        poison(row.type, bytes);
        const double value = decode(row.type, bytes);
        if (row.is_float)
            CHECK(std::isnan(value));
        else
            CHECK((std::fmod(std::fabs(value), 2) == 1 && std::fabs(value) > largest(row.type) / 2));
    }
}

TEST_CASE("one block of every format stands for the numbers that are written beside it") {
    std::set<std::string_view> formats;
    for (const GoldenBlock& block : golden_blocks()) {
        CAPTURE(block.format);
        const auto row = std::ranges::find(vkgemm::plan::type_info, block.format, &TypeInfo::name);
        REQUIRE(row != std::end(vkgemm::plan::type_info));
        formats.insert(row->name);
        REQUIRE(block.bytes.size() == row->bytes);
        REQUIRE(block.numbers.size() == row->block);
        std::vector<double> decoded(row->block);
        vkgemm::decodeBlock(row->type, block.bytes.data(), decoded);
        CHECK(decoded == block.numbers);
    }
    for (const auto& row : vkgemm::plan::type_info) CHECK((row.block > 1) == formats.contains(row.name));
}

TEST_CASE("the exact range is the largest") {
    CHECK(exact_range(24, 24, 4096) == 64);
    CHECK(exact_range(24, 24, 4097) == 63);
    CHECK(exact_range(11, 11, 2048) == 1);
    CHECK(exact_range(11, 11, 2049) == 0);  // too long for any but zeros: such a row wants a tolerance
    CHECK(exact_range(8, 24, 1) == 256);    // bounded by the operands
}

TEST_CASE("the largest magnitude of exact operands is the largest that D can hold") {
    const auto range = [](const char* line, double alpha, double beta) {
        return exact_fill(completed_line(line), alpha, beta).ab;
    };
    CHECK(range("f32*f32 8x8x64", 1, 0) == 512);
    CHECK(range("f32*f32 8x8x64 c=d", 2, 1) == 362);          // 2 * 64 * 362 * 362 + 3 is below 2^24
    CHECK(range("f16*f16 8x8x2048", 1, 0) == 1);              // the most that D of f16 holds
    CHECK(range("f16*f16 8x8x2048 c=separate", 1, 1) == 0);   // and 3 of C beside it
    CHECK(range("f64*f64 8x8x1", 1, 0) == int64_t{1} << 20);  // enough
    CHECK(range("f64*f64 8x8x4194304", -3, 0) == 26754);
}

TEST_CASE("the reference of whole lines is that of each element") {
    constexpr const char* lines[] = {
        "f32*f32 7x9x5 batch=6 outer=2 ratio_a=2 outer_ratio_b=2 layout=tn bias=col act=relu",
        "f32*f32 9x7x5 batch=2 stride_b=0 layout=nt layout_d=t c=separate",
        "f64*f64 6x5x40 scale=row c=d",
        "f64*f64 5x6x40 layout=tt",
        "f32*f16 3x8x33 accuracy=narrow bias=row",
        "e4m3*e4m3 8x3x32 accuracy=narrow layout=nt",
        "i32*i32 5x7x9 batch=2 layout=tn c=separate",
        "i8*i8+i32->i32 7x5x9 layout=nt residual",
        "i8*i8+i32->f16 7x5x64 bias=row bias_type=i32 scale=col",
        "f16*q8_0 9x4x64 layout=nt accuracy=mxint8",
        "f32*f32 4x5x0 beta=2 c=d"};
    uint64_t seed = 0;
    for (const char* line : lines) {
        const Problem p = completed_line(line);
        const Operands in = operands_for(p, ++seed);
        for (const double alpha : {2.0, 0.0})
            for (uint64_t z = 0; z < p.batch * p.outerBatch; ++z) {
                References all(p, alpha, 3, in, z), rows(p, alpha, 3, in, z, true);
                for (uint64_t r = 0; r < p.m; ++r)
                    for (uint64_t c = 0; c < p.n; ++c) {
                        const Bounded want = reference(p, alpha, 3, in, z, r, c);
                        for (const Bounded& is : {all(r, c), rows(r, c)}) {
                            CHECK_MESSAGE(is.value == want.value, line, ", ", r, ", ", c);
                            CHECK(is.error == doctest::Approx(want.error).epsilon(1e-12));
                            CHECK(is.before == want.before);
                        }
                    }
            }
    }
}

TEST_CASE("encodeGroup() writes the codes, the scale and the zero point") {
    std::vector<uint8_t> codes(32);
    for (size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<uint8_t>(i % 16);
    std::vector<std::byte> block(vkgemm::bytesOf(VKGEMM_TYPE_U4_G32));
    REQUIRE(vkgemm::encodeGroup(VKGEMM_TYPE_U4_G32, codes, 0.5, 8, block));
    for (size_t i = 0; i < codes.size(); ++i)
        CHECK(vkgemm::decodeElement(VKGEMM_TYPE_U4_G32, block.data(), i) == 0.5 * (codes[i] - 8));
    CHECK(vkgemm::encodeGroup(VKGEMM_TYPE_U4_G32, codes, 65504, 1e-9, block));  // such a zero point may become 0
}

TEST_CASE("encodeGroup() refuses what a block cannot hold, and writes nothing") {
    const auto refused = [](Type type, size_t codes, int code, double scale, double zero, size_t bytes) {
        const std::vector<uint8_t> all(codes, static_cast<uint8_t>(code));
        std::vector<std::byte> block(bytes, std::byte{0x5a});
        const Status status = vkgemm::encodeGroup(type, all, scale, zero, block);
        CHECK(status.code == VKGEMM_ERROR_INVALID_ARGUMENT);
        CHECK(std::ranges::count(block, std::byte{0x5a}) == static_cast<std::ptrdiff_t>(bytes));
        return status.text;
    };
    const Type u4 = VKGEMM_TYPE_U4_G32, wide = VKGEMM_TYPE_U4_G32_F32;
    CHECK(refused(VKGEMM_TYPE_Q4_0, 32, 1, 1, 0, 64) ==
          "q4_0 has no scale and zero point for each group; u4_g32 to u8_g128_f32 have");
    CHECK(refused(static_cast<Type>(999), 32, 1, 1, 0, 64).starts_with("type 999 has no scale"));
    CHECK(refused(u4, 31, 1, 1, 0, 64) == "a group of u4_g32 has 32 codes, not 31");
    CHECK(refused(u4, 32, 1, 1, 0, 19) == "a block of u4_g32 has 20 bytes, and there is room for 19");
    CHECK(refused(u4, 32, 16, 1, 0, 64) ==
          "code 0 is 16, but the codes of u4_g32 are 0 to 15; u8_g* has codes up to 255");
    CHECK(refused(u4, 32, 1, 65520, 0, 64) ==
          "the scale is 65520, which f16 stores as inf; u4_g32_f32 has an f32 in its place");
    CHECK(refused(u4, 32, 1, 1e-9, 0, 64) ==
          "the scale is 1e-09, which f16 stores as 0; u4_g32_f32 has an f32 in its place");
    CHECK(refused(u4, 32, 1, 1, -1e6, 64).starts_with("the zero point is -1e+06, which f16 stores as -inf"));
    CHECK(refused(wide, 32, 1, 1e39, 0, 64) == "the scale is 1e+39, which f32 stores as inf");
    CHECK(refused(wide, 32, 1, std::nan(""), 0, 64) == "the scale is nan, which f32 stores as nan");
}
