// SPDX-License-Identifier: MIT
//
// Conversion between numbers and stored elements, for every plain VkgemmType. Header only, no Vulkan.
#ifndef VKGEMM_ELEMENTS_HPP
#define VKGEMM_ELEMENTS_HPP

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <vkgemm/problem.hpp>

namespace vkgemm {
namespace elements {

/// The codec of a type that C++ has, too.
template <class T>
struct Native {
    static constexpr double largest = static_cast<double>(std::numeric_limits<T>::max());
    static constexpr double smallest_normal =
        std::numeric_limits<T>::is_integer ? 0 : static_cast<double>(std::numeric_limits<T>::min());

    static double decode(const std::byte* bytes) {
        T value;
        std::memcpy(&value, bytes, sizeof value);
        return static_cast<double>(value);
    }
    static void encode(double value, std::byte* bytes) {
        T stored;
        if constexpr (std::numeric_limits<T>::is_integer) {
            const auto size = static_cast<uint64_t>(std::fabs(value));
            stored = static_cast<T>(value < 0 ? ~size + 1 : size);
        } else {
            stored = static_cast<T>(value);
        }
        std::memcpy(bytes, &stored, sizeof stored);
    }
};

/// The codec of a float of 8 or 16 bits. fraction: the bits of its fraction. lowest, highest: the exponents of its
/// smallest and largest normal value. isFinite: it has no infinity, and its only NaN has all bits set; numbers that are
/// too large become that NaN.
template <class Bits, int fraction, int lowest, int highest, bool isFinite = false>
struct SmallFloat {
    static constexpr uint64_t sign = uint64_t{1} << (8 * sizeof(Bits) - 1);
    static constexpr uint64_t infinity = isFinite ? sign - 1 : uint64_t{highest - lowest + 2} << fraction;
    static constexpr double largest = static_cast<double>((uint64_t{2} << fraction) - (isFinite ? 2 : 1)) *
                                      std::bit_cast<double>(uint64_t{1023 + highest - fraction} << 52);
    static constexpr double smallest_normal = std::bit_cast<double>(uint64_t{1023 + lowest} << 52);
    static constexpr double smallest = std::bit_cast<double>(uint64_t{1023 + lowest - fraction} << 52);

    static double decode(const std::byte* bytes) {
        Bits bits;
        std::memcpy(&bits, bytes, sizeof bits);
        const uint64_t size = bits & (sign - 1);
        double value;
        if (size >= infinity)
            value = size == infinity && !isFinite ? std::numeric_limits<double>::infinity()
                                                  : std::numeric_limits<double>::quiet_NaN();
        else if (size >> fraction == 0)
            value = static_cast<double>(size) * smallest;
        else
            value = std::bit_cast<double>((size << (52 - fraction)) + (uint64_t{1022 + lowest} << 52));
        return bits & sign ? -value : value;
    }
    /// Rounds once, from the double to the nearest, ties to even.
    static void encode(double value, std::byte* bytes) {
        const auto stored = static_cast<Bits>((std::signbit(value) ? sign : 0u) | magnitude(std::fabs(value)));
        std::memcpy(bytes, &stored, sizeof stored);
    }

   private:
    static uint64_t magnitude(double size) {
        if (std::isnan(size)) return infinity | (isFinite ? 0 : uint64_t{1} << (fraction - 1));
        if (size < smallest_normal) return static_cast<uint64_t>(std::nearbyint(size / smallest));
        constexpr int dropped = 52 - fraction;
        const auto bits = std::bit_cast<uint64_t>(size);
        const uint64_t nearest = bits + (uint64_t{1} << (dropped - 1)) - 1 + (bits >> dropped & 1);
        const uint64_t exponents = uint64_t{1022 + lowest} << fraction;  // the difference of the two biases
        return std::min((nearest >> dropped) - exponents, infinity);
    }
};

/// Calls body(codec of the type).
template <class Body>
auto visit(Type type, const Body& body) {
    switch (type) {
        case VKGEMM_TYPE_F16:
            return body(SmallFloat<uint16_t, 10, -14, 15>());
        case VKGEMM_TYPE_BF16:
            return body(SmallFloat<uint16_t, 7, -126, 127>());
        case VKGEMM_TYPE_E4M3:
            return body(SmallFloat<uint8_t, 3, -6, 8, true>());
        case VKGEMM_TYPE_E5M2:
            return body(SmallFloat<uint8_t, 2, -14, 15>());
        case VKGEMM_TYPE_F64:
            return body(Native<double>());
        case VKGEMM_TYPE_I32:
            return body(Native<int32_t>());
        case VKGEMM_TYPE_I8:
            return body(Native<int8_t>());
        case VKGEMM_TYPE_U8:
            return body(Native<uint8_t>());
        default:
            return body(Native<float>());
    }
}

}  // namespace elements

/// The size of a block; a plain type has one element a block.
struct BlockSize {
    size_t bytes;
    uint32_t elements;
};
constexpr BlockSize blockSize(Type type) {
    switch (type) {
#define VKGEMM_ROW(name, number, text, bytes, elements, digits, isFloat, accumulator, result) \
    case name:                                                                                \
        return {bytes, elements};
        VKGEMM_TYPE_ROWS(VKGEMM_ROW)  // NOLINT(bugprone-branch-clone): some types have one size
#undef VKGEMM_ROW
        default:
            return {0, 1};
    }
}
constexpr size_t bytesOf(Type type) { return blockSize(type).bytes; }

/// The value of the element at `bytes`. Exact, because double holds every value of every type.
inline double decode(Type type, const std::byte* bytes) {
    return elements::visit(type, [&](auto codec) { return codec.decode(bytes); });
}

/// Decodes values.size() elements that are `step` elements apart.
inline void decode(Type type, const std::byte* first, uint64_t step, std::span<double> values) {
    const uint64_t distance = step * bytesOf(type);
    elements::visit(type, [&](auto codec) {
        for (size_t i = 0; i < values.size(); ++i) values[i] = codec.decode(first + i * distance);
    });
}

/// Writes `value`. Floats round to the nearest, ties to even. For integers `value` must be whole; it wraps around.
inline void encode(Type type, double value, std::byte* bytes) {
    elements::visit(type, [&](auto codec) { codec.encode(value, bytes); });
}

/// The largest finite value.
inline double largest(Type type) {
    return elements::visit(type, [](auto codec) { return codec.largest; });
}

/// The smallest normal value; 0 for integers.
inline double smallestNormal(Type type) {
    return elements::visit(type, [](auto codec) { return codec.smallest_normal; });
}

/// `x` after a step that reads no operand. Steps that read an operand return `x` unchanged.
inline double applied(const Step& step, double x) {
    switch (step.kind) {
        case VKGEMM_STEP_RELU:
            return x < 0 ? 0 : x;
        case VKGEMM_STEP_GELU:
            return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
        case VKGEMM_STEP_SILU:
            return x / (1 + std::exp(-x));
        case VKGEMM_STEP_LEAKY_RELU:
            return x < 0 ? (step.low == 0 ? 0 : static_cast<double>(step.low) * x) : x;
        case VKGEMM_STEP_CLAMP: {
            const double low = static_cast<double>(step.low), high = static_cast<double>(step.high);
            return x < low ? low : x > high ? high : x;
        }
        default:
            return x;
    }
}

/// Whether applied() has a function of exp or tanh, which a device computes within a bound, not to the last bit.
constexpr bool isCurve(VkgemmStepKind kind) { return kind == VKGEMM_STEP_GELU || kind == VKGEMM_STEP_SILU; }

/// The next number of the splitmix64 generator; the sequence is the same on every machine.
inline uint64_t splitmix64(uint64_t& state) {
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

}  // namespace vkgemm
#endif
