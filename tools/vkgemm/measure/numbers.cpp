// SPDX-License-Identifier: MIT
#include "measure/numbers.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace vkgemm::tool {
namespace {

template <class T>
void put(T value, std::byte* bytes) {
    std::memcpy(bytes, &value, sizeof value);
}
template <class T>
T get(const std::byte* bytes) {
    T value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
}

uint16_t to_bf16(float value) {
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    if (std::isnan(value)) return static_cast<uint16_t>(bits >> 16 | 0x40);
    return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

uint16_t to_f16(float value) {
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    const uint32_t sign = bits >> 16 & 0x8000;
    const float size = std::fabs(value);
    if (std::isnan(value)) return static_cast<uint16_t>(sign | 0x7e00);
    if (size >= 65520) return static_cast<uint16_t>(sign | 0x7c00);
    if (size < 0x1p-14f)  // subnormal: whole multiples of 2^-24, which nearbyint rounds to even
        return static_cast<uint16_t>(sign | static_cast<uint32_t>(std::nearbyint(size * 0x1p24f)));
    const uint32_t magnitude = (bits & 0x7fffffff) - (112u << 23);  // the exponent's other bias
    return static_cast<uint16_t>(sign | (magnitude + 0xfff + (magnitude >> 13 & 1)) >> 13);
}

double from_f16(uint16_t bits) {
    const uint32_t magnitude = bits & 0x7fffu;
    const float size = magnitude >= 0x7c00   ? (magnitude > 0x7c00 ? NAN : HUGE_VALF)
                       : magnitude >= 0x0400 ? std::bit_cast<float>((magnitude << 13) + (112u << 23))
                                             : static_cast<float>(magnitude) * 0x1p-24f;  // subnormal, or 0
    return static_cast<double>(bits & 0x8000 ? -size : size);
}

}  // namespace

void encode(Type type, double value, std::byte* bytes) {
    switch (type) {
        case f32:
            return put(static_cast<float>(value), bytes);
        case f16:
            return put(to_f16(static_cast<float>(value)), bytes);
        case bf16:
            return put(to_bf16(static_cast<float>(value)), bytes);
        case f64:
            return put(value, bytes);
        case i32:
            return put(static_cast<int32_t>(static_cast<int64_t>(value)), bytes);
        case i8:
            return put(static_cast<int8_t>(static_cast<int64_t>(value)), bytes);
        case u8:
            return put(static_cast<uint8_t>(static_cast<int64_t>(value)), bytes);
        default:
            break;
    }
}

namespace {
/// Calls `body` with what decodes one element of the type.
template <class Body>
auto with_decoder(Type type, const Body& body) {
    const auto from_bf16 = [](const std::byte* b) {
        return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(get<uint16_t>(b)) << 16));
    };
    switch (type) {
        case f16:
            return body([](const std::byte* b) { return from_f16(get<uint16_t>(b)); });
        case bf16:
            return body(from_bf16);
        case f64:
            return body([](const std::byte* b) { return get<double>(b); });
        case i32:
            return body([](const std::byte* b) { return static_cast<double>(get<int32_t>(b)); });
        case i8:
            return body([](const std::byte* b) { return static_cast<double>(get<int8_t>(b)); });
        case u8:
            return body([](const std::byte* b) { return static_cast<double>(get<uint8_t>(b)); });
        default:  // f32
            return body([](const std::byte* b) { return static_cast<double>(get<float>(b)); });
    }
}
}  // namespace

double decode(Type type, const std::byte* bytes) {
    return with_decoder(type, [&](const auto& element) { return element(bytes); });
}

void decode(Type type, const std::byte* first, uint64_t step, std::span<double> values) {
    const uint64_t distance = step * type_info(type).bytes;
    with_decoder(type, [&](const auto& element) {
        for (size_t i = 0; i < values.size(); ++i) values[i] = element(first + i * distance);
    });
}

uint32_t poison(Type type) { return type_info(type).isFloat ? 0xffffffffu : 0xa5a5a5a5u; }

uint64_t Random::next() {
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

double random_value(Type type, Random& random) {
    const auto bits = static_cast<int32_t>(random.next() >> 32);
    return type_info(type).isFloat ? bits * 0x1p-31 : bits;
}

}  // namespace vkgemm::tool
