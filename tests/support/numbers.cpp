// SPDX-License-Identifier: MIT
#include "support/numbers.h"

#include <cfloat>
#include <cmath>
#include <cstring>
#include <limits>

namespace vkgemm::test {
namespace {

using plan::Type;

/// A 16-bit float: its fraction bits and the exponents of its smallest and largest normal value.
struct SmallFloat {
    int fraction, lowest, highest;
    uint32_t infinity() const { return static_cast<uint32_t>(highest - lowest + 2) << fraction; }
};
constexpr SmallFloat half = {10, -14, 15};
constexpr SmallFloat brain = {7, -126, 127};

uint16_t pack(SmallFloat f, double value) {
    const uint32_t sign = std::signbit(value) ? 0x8000u : 0;
    if (std::isnan(value)) return static_cast<uint16_t>(sign | f.infinity() | (1u << (f.fraction - 1)));
    const double size = std::fabs(value);
    if (std::isinf(size)) return static_cast<uint16_t>(sign | f.infinity());
    if (size == 0) return static_cast<uint16_t>(sign);
    const int exponent = std::max(std::ilogb(size), f.lowest);
    if (exponent > f.highest) return static_cast<uint16_t>(sign | f.infinity());
    // The hidden bit of a normal value carries into the exponent field. A subnormal has none, so one sum serves both.
    const auto units = static_cast<uint32_t>(std::nearbyint(std::ldexp(size, f.fraction - exponent)));
    return static_cast<uint16_t>(sign | ((static_cast<uint32_t>(exponent - f.lowest) << f.fraction) + units));
}

double unpack(SmallFloat f, uint16_t bits) {
    const uint32_t magnitude = bits & 0x7fffu;
    const uint32_t fraction = magnitude & ((1u << f.fraction) - 1);
    const int field = static_cast<int>(magnitude >> f.fraction);
    const double sign = (bits & 0x8000u) ? -1 : 1;
    if (magnitude > f.infinity()) return std::copysign(std::numeric_limits<double>::quiet_NaN(), sign);
    if (magnitude == f.infinity()) return sign * std::numeric_limits<double>::infinity();
    const double units = fraction + (field ? std::ldexp(1.0, f.fraction) : 0.0);
    return sign * std::ldexp(units, std::max(field, 1) - 1 + f.lowest - f.fraction);
}

template <class T>
T load(const std::byte* bytes) {
    T value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
}

template <class T>
void store(std::byte* bytes, T value) {
    std::memcpy(bytes, &value, sizeof value);
}

/// The low 64 bits of a whole number below 2^64.
uint64_t whole(double value) { return value < 0 ? ~static_cast<uint64_t>(-value) + 1 : static_cast<uint64_t>(value); }

}  // namespace

double decode(Type type, const std::byte* bytes) {
    switch (type) {
        case Type::f32:
            return static_cast<double>(load<float>(bytes));
        case Type::f16:
            return unpack(half, load<uint16_t>(bytes));
        case Type::bf16:
            return unpack(brain, load<uint16_t>(bytes));
        case Type::f64:
            return load<double>(bytes);
        case Type::i32:
            return load<int32_t>(bytes);
        case Type::i8:
            return load<int8_t>(bytes);
        case Type::u8:
            return load<uint8_t>(bytes);
    }
    return 0;
}

void encode(Type type, double value, std::byte* bytes) {
    switch (type) {
        case Type::f32:
            return store(bytes, static_cast<float>(value));
        case Type::f16:
            return store(bytes, pack(half, value));
        case Type::bf16:
            return store(bytes, pack(brain, value));
        case Type::f64:
            return store(bytes, value);
        case Type::i32:
            return store(bytes, static_cast<uint32_t>(whole(value)));
        case Type::i8:
        case Type::u8:
            return store(bytes, static_cast<uint8_t>(whole(value)));
    }
}

double rounded(Type type, double value) {
    std::byte bytes[8];
    encode(type, value, bytes);
    return decode(type, bytes);
}

void poison(Type type, std::byte* bytes) {
    switch (type) {
        case Type::f32:
            return store(bytes, uint32_t{0x7fc0dead});
        case Type::f16:
            return store(bytes, uint16_t{0x7ead});
        case Type::bf16:
            return store(bytes, uint16_t{0x7fed});
        case Type::f64:
            return store(bytes, uint64_t{0x7ff8dead5eedbeefu});
        case Type::i32:
            return store(bytes, uint32_t{0x5eadbeef});
        case Type::i8:
            return store(bytes, uint8_t{0x6b});
        case Type::u8:
            return store(bytes, uint8_t{0xeb});
    }
}

double unit_roundoff(Type type) {
    return plan::info(type).is_float ? std::ldexp(1.0, -plan::info(type).exact_bits) : 0;
}

double smallest_normal(Type type) {
    switch (type) {
        case Type::f16:
            return std::ldexp(1.0, half.lowest);
        case Type::f64:
            return DBL_MIN;
        case Type::f32:
        case Type::bf16:
            return static_cast<double>(FLT_MIN);
        default:
            return 0;
    }
}

double largest(Type type) {
    switch (type) {
        case Type::f32:
            return static_cast<double>(FLT_MAX);
        case Type::f16:
            return 65504;
        case Type::bf16:
            return std::ldexp(255.0, 120);
        case Type::f64:
            return DBL_MAX;
        case Type::i32:
            return std::numeric_limits<int32_t>::max();
        case Type::i8:
            return 127;
        case Type::u8:
            return 255;
    }
    return 0;
}

}  // namespace vkgemm::test
