// SPDX-License-Identifier: MIT
//
// Conversion between numbers and stored blocks, for every block format of VKGEMM_TYPE_ROWS. docs/formats.md describes
// the formats. Header only, no Vulkan.
#ifndef VKGEMM_FORMATS_HPP
#define VKGEMM_FORMATS_HPP

#include <array>
#include <vkgemm/elements.hpp>
#include <vkgemm/text.hpp>

namespace vkgemm {

/// Elements in a block; 1 for a plain type.
constexpr uint32_t blockElements(Type type) { return blockSize(type).elements; }
inline constexpr uint32_t mostBlockElements = 256, mostBlockBytes = 256;

namespace formats {

using Half = elements::SmallFloat<uint16_t, 10, -14, 15>;

inline uint32_t byteAt(const std::byte* b, size_t i) { return std::to_integer<uint32_t>(b[i]); }
inline int signedAt(const std::byte* b, size_t i) { return static_cast<int8_t>(byteAt(b, i)); }
inline uint32_t wordAt(const std::byte* b) {
    return byteAt(b, 0) | byteAt(b, 1) << 8 | byteAt(b, 2) << 16 | byteAt(b, 3) << 24;
}
/// Ors `bits` into byte i.
inline void put(std::byte* b, size_t i, uint32_t bits) { b[i] |= static_cast<std::byte>(bits); }

inline constexpr std::array<int, 16> iq4Values = {-127, -104, -83, -65, -49, -35, -22, -10,
                                                  1,    13,   25,  38,  53,  69,  89,  113};
inline double e2m1(uint32_t code) {
    constexpr double sizes[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
    return code & 8 ? -sizes[code & 7] : sizes[code & 7];
}
inline double e8m0(uint32_t code) {
    return code == 255 ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(1.0, static_cast<int>(code) - 127);
}
inline double e4m3(uint32_t code) {  // of nvfp4: without a sign, and its NaN counts as 0
    const int e = static_cast<int>(code >> 3 & 15), m = static_cast<int>(code & 7);
    if ((code & 127) == 127) return 0;
    return e == 0 ? std::ldexp(m, -9) : std::ldexp(8 + m, e - 10);
}

/// A format of integer codes with a scale and a zero point, which are the beginning of the block. bits: of a code.
/// scaleBytes: of the scale, and of the zero point. Both are 0 for other formats. negative: codes are two's complement.
struct Group {
    uint32_t bits, scaleBytes;
    bool negative;
};
inline Group groupOf(Type type) {
    if (type < VKGEMM_TYPE_U4_G32 || type > VKGEMM_TYPE_U8_G128_F32) return {0, 0, false};
    if (type >= VKGEMM_TYPE_U8_G32) return {8, type < VKGEMM_TYPE_U8_G32_F32 ? 2u : 4u, false};
    const bool four = (type - VKGEMM_TYPE_U4_G32) % 6 < 3;
    return {four ? 4u : 8u, type < VKGEMM_TYPE_U4_G32_F32 ? 2u : 4u, !four};
}

/// Where element i of a block is stored. low: the byte with its lower bits, which begin at bit low_shift. high: the
/// byte with its upper bits, which begin at bit high_shift; `none` if there are none. sub: the number of its sub-block.
struct Place {
    static constexpr size_t none = 0xffff;
    size_t low = 0, low_shift = 0, high = none, high_shift = 0, sub = 0;
};
inline Place placeOf(Type type, size_t i) {
    const size_t half = i / 16 % 2, pair = i / 64, upper = i / 32 % 2, within = i % 32;
    if (const Group g = groupOf(type); g.bits)
        return {.low = 2 * g.scaleBytes + i * g.bits / 8, .low_shift = i * g.bits % 8};
    switch (type) {
        case VKGEMM_TYPE_I4:
            return {.low = i / 2, .low_shift = 4 * (i % 2)};
        case VKGEMM_TYPE_Q8_0:
            return {.low = 2 + i};
        case VKGEMM_TYPE_Q4_1:
            return {.low = 4 + i % 16, .low_shift = 4 * half};
        case VKGEMM_TYPE_Q5_0:
            return {.low = 6 + i % 16, .low_shift = 4 * half, .high = 2 + i / 8, .high_shift = i % 8};
        case VKGEMM_TYPE_Q5_1:
            return {.low = 8 + i % 16, .low_shift = 4 * half, .high = 4 + i / 8, .high_shift = i % 8};
        case VKGEMM_TYPE_Q4_K:
            return {.low = 16 + 32 * pair + within, .low_shift = 4 * upper, .sub = i / 32};
        case VKGEMM_TYPE_Q5_K:
            return {.low = 48 + 32 * pair + within,
                    .low_shift = 4 * upper,
                    .high = 16 + within,
                    .high_shift = i / 32,
                    .sub = i / 32};
        case VKGEMM_TYPE_Q6_K:
            return {.low = i / 128 * 64 + i % 64,
                    .low_shift = 4 * (i / 64 % 2),
                    .high = 128 + i / 128 * 32 + within,
                    .high_shift = 2 * (i / 32 % 4),
                    .sub = i / 16};
        case VKGEMM_TYPE_MXFP4:
            return {.low = 1 + i % 16, .low_shift = 4 * half};
        case VKGEMM_TYPE_NVFP4:
            return {.low = 4 + i / 16 * 8 + i % 8, .low_shift = 4 * (i / 8 % 2), .sub = i / 16};
        default:  // q4_0, iq4_nl
            return {.low = 2 + i % 16, .low_shift = 4 * half};
    }
}
/// The number of lower and of upper bits of a code.
inline uint32_t lowBits(Type type) { return type == VKGEMM_TYPE_Q8_0 || groupOf(type).bits == 8 ? 8 : 4; }
inline uint32_t highBits(Type type) { return type == VKGEMM_TYPE_Q6_K ? 2 : 1; }

inline uint32_t codeAt(Type type, const std::byte* block, size_t i) {
    const Place at = placeOf(type, i);
    const uint32_t low = byteAt(block, at.low) >> at.low_shift & ((1u << lowBits(type)) - 1);
    if (at.high == Place::none) return low;
    return low | (byteAt(block, at.high) >> at.high_shift & ((1u << highBits(type)) - 1)) << 4;
}
inline void putCode(Type type, std::byte* block, size_t i, uint32_t code) {
    const Place at = placeOf(type, i);
    put(block, at.low, (code & ((1u << lowBits(type)) - 1)) << at.low_shift);
    if (at.high != Place::none) put(block, at.high, (code >> 4) << at.high_shift);
}

/// Scale and minimum of a sub-block of q4_k and q5_k. Each has six bits; they begin at byte 4.
inline std::array<uint32_t, 2> kScales(const std::byte* block, size_t sub) {
    const std::byte* s = block + 4;
    if (sub < 4) return {byteAt(s, sub) & 63, byteAt(s, sub + 4) & 63};
    const uint32_t both = byteAt(s, sub + 4);
    return {(both & 15) | byteAt(s, sub - 4) >> 6 << 4, both >> 4 | byteAt(s, sub) >> 6 << 4};
}
inline void putKScales(std::byte* block, size_t sub, uint32_t scale, uint32_t least) {
    std::byte* s = block + 4;
    if (sub < 4) {
        put(s, sub, scale);
        put(s, sub + 4, least);
        return;
    }
    put(s, sub + 4, (scale & 15) | (least & 15) << 4);
    put(s, sub - 4, scale >> 4 << 6);
    put(s, sub, least >> 4 << 6);
}

/// The scale and offset of a sub-block: an element is scale * numberOf(code) + offset.
struct Scale {
    double scale, offset;
};
inline Scale scaleOf(Type type, const std::byte* b, size_t sub) {
    if (const Group g = groupOf(type); g.bits) {
        const Type stored = g.scaleBytes == 2 ? VKGEMM_TYPE_F16 : VKGEMM_TYPE_F32;
        const double scale = decode(stored, b), zero = decode(stored, b + g.scaleBytes);
        return {scale, -scale * zero};
    }
    switch (type) {
        case VKGEMM_TYPE_I4:
            return {1, 0};
        case VKGEMM_TYPE_Q4_1:
        case VKGEMM_TYPE_Q5_1:
            return {Half::decode(b), Half::decode(b + 2)};
        case VKGEMM_TYPE_Q4_K:
        case VKGEMM_TYPE_Q5_K:
            return {Half::decode(b) * kScales(b, sub)[0], -Half::decode(b + 2) * kScales(b, sub)[1]};
        case VKGEMM_TYPE_Q6_K:
            return {Half::decode(b + 208) * signedAt(b, 192 + sub), 0};
        case VKGEMM_TYPE_MXFP4:
            return {e8m0(byteAt(b, 0)), 0};
        case VKGEMM_TYPE_NVFP4:
            return {e4m3(byteAt(b, sub)), 0};
        default:
            return {Half::decode(b), 0};
    }
}
/// The number that a code represents before scaling.
inline double numberOf(Type type, uint32_t code) {
    if (groupOf(type).negative) return static_cast<int8_t>(code);
    switch (type) {
        case VKGEMM_TYPE_I4:
            return code < 8 ? static_cast<double>(code) : static_cast<double>(code) - 16;
        case VKGEMM_TYPE_Q8_0:
            return static_cast<int8_t>(code);
        case VKGEMM_TYPE_Q4_0:
            return static_cast<double>(code) - 8;
        case VKGEMM_TYPE_Q5_0:
            return static_cast<double>(code) - 16;
        case VKGEMM_TYPE_Q6_K:
            return static_cast<double>(code) - 32;
        case VKGEMM_TYPE_IQ4_NL:
            return iq4Values[code];
        case VKGEMM_TYPE_MXFP4:
        case VKGEMM_TYPE_NVFP4:
            return e2m1(code);
        default:
            return code;
    }
}

/// The code whose number is nearest to `x`.
inline uint32_t nearestCode(Type type, uint32_t codes, double x) {
    if (type != VKGEMM_TYPE_IQ4_NL && type != VKGEMM_TYPE_MXFP4 && type != VKGEMM_TYPE_NVFP4) {  // the numbers count up
        const bool isSigned = type == VKGEMM_TYPE_Q8_0 || type == VKGEMM_TYPE_I4 || groupOf(type).negative;
        const uint32_t negative = isSigned ? codes / 2 : 0;  // the code of the least number; its bit is the sign
        const double steps = std::clamp(std::nearbyint(x) - numberOf(type, negative), 0.0, codes - 1.0);
        return static_cast<uint32_t>(steps) ^ negative;
    }
    uint32_t best = 0;
    for (uint32_t code = 1; code < codes; ++code)
        if (std::fabs(numberOf(type, code) - x) < std::fabs(numberOf(type, best) - x)) best = code;
    return best;
}

/// largest: the largest magnitude of a number. codes: how many there are. sub: elements in a sub-block. offset: whether
/// the format has offsets.
struct Traits {
    double largest = 0;
    uint32_t codes = 0, sub = 32;
    bool offset = false;
};
inline Traits traitsOf(Type type) {
    if (const Group g = groupOf(type); g.bits)
        return {.largest = g.negative ? 127.0 : std::ldexp(1.0, static_cast<int>(g.bits)) - 1,
                .codes = 1u << g.bits,
                .sub = blockElements(type),
                .offset = !g.negative};
    switch (type) {
        case VKGEMM_TYPE_I4:
            return {.largest = 7, .codes = 16};
        case VKGEMM_TYPE_Q8_0:
            return {.largest = 127, .codes = 256};
        case VKGEMM_TYPE_Q4_1:
            return {.largest = 15, .codes = 16, .offset = true};
        case VKGEMM_TYPE_Q5_0:
            return {.largest = 16, .codes = 32};
        case VKGEMM_TYPE_Q5_1:
            return {.largest = 31, .codes = 32, .offset = true};
        case VKGEMM_TYPE_Q4_K:
            return {.largest = 15, .codes = 16, .offset = true};
        case VKGEMM_TYPE_Q5_K:
            return {.largest = 31, .codes = 32, .offset = true};
        case VKGEMM_TYPE_Q6_K:
            return {.largest = 32, .codes = 64, .sub = 16};
        case VKGEMM_TYPE_IQ4_NL:
            return {.largest = 127, .codes = 16};
        case VKGEMM_TYPE_MXFP4:
            return {.largest = 6, .codes = 16};
        case VKGEMM_TYPE_NVFP4:
            return {.largest = 6, .codes = 16, .sub = 16};
        default:  // q4_0
            return {.largest = 8, .codes = 16};
    }
}

inline uint32_t nearestE4m3(double x) {
    uint32_t best = 1;
    for (uint32_t code = 2; code < 127; ++code)
        if (std::fabs(e4m3(code) - x) < std::fabs(e4m3(best) - x)) best = code;
    return best;
}

/// Writes the scales of the sub-blocks, rounded to what the format can hold. `scale` and `least` have one value of at
/// least 0 for each sub-block. `whole`: the scales are whole numbers and must be kept exactly.
inline void putScales(Type type, std::byte* b, std::span<const double> scale, std::span<const double> least,
                      bool whole) {
    const double most = *std::max_element(scale.begin(), scale.end());
    const double deepest = *std::max_element(least.begin(), least.end());
    if (const Group g = groupOf(type); g.bits) {
        const Type stored = g.scaleBytes == 2 ? VKGEMM_TYPE_F16 : VKGEMM_TYPE_F32;
        // With a sign always -1: not 0, so that code which ignores it fails tests; -127 to 127 still fit.
        const double zero = g.negative ? -1 : most > 0 ? std::nearbyint(deepest / most) : 0;
        encode(stored, most, b);
        encode(stored, zero, b + g.scaleBytes);
        return;
    }
    switch (type) {
        case VKGEMM_TYPE_I4:  // without scales
            return;
        case VKGEMM_TYPE_Q4_1:
        case VKGEMM_TYPE_Q5_1:
            Half::encode(most, b);
            Half::encode(-deepest, b + 2);
            return;
        case VKGEMM_TYPE_Q4_K:
        case VKGEMM_TYPE_Q5_K: {
            const double d = whole ? most : most / 63, dmin = whole ? 1 : deepest / 63;
            Half::encode(d, b);
            Half::encode(dmin, b + 2);
            for (size_t s = 0; s < scale.size(); ++s)
                putKScales(b, s, d > 0 ? static_cast<uint32_t>(std::nearbyint(scale[s] / d)) : 0,
                           dmin > 0 ? static_cast<uint32_t>(std::nearbyint(least[s] / dmin)) : 0);
            return;
        }
        case VKGEMM_TYPE_Q6_K: {
            const double d = whole ? most : most / 127;
            Half::encode(d, b + 208);
            for (size_t s = 0; s < scale.size(); ++s)
                put(b, 192 + s, d > 0 ? static_cast<uint32_t>(std::nearbyint(scale[s] / d)) : 0);
            return;
        }
        case VKGEMM_TYPE_MXFP4: {
            if (std::isnan(most)) return put(b, 0, 255);
            const int power = most > 0 ? static_cast<int>(std::ceil(std::log2(most))) : 0;
            return put(b, 0, static_cast<uint32_t>(std::clamp(power, -127, 127) + 127));
        }
        case VKGEMM_TYPE_NVFP4:
            for (size_t s = 0; s < scale.size(); ++s) put(b, s, nearestE4m3(scale[s]));
            return;
        default:
            return Half::encode(most, b);
    }
}

}  // namespace formats

/// Element i of the block at `block`. Exact, because double holds every value of every format.
inline double decodeElement(Type type, const std::byte* block, size_t i) {
    if (blockElements(type) == 1) return decode(type, block);
    const formats::Scale s = formats::scaleOf(type, block, formats::placeOf(type, i).sub);
    return s.scale * formats::numberOf(type, formats::codeAt(type, block, i)) + s.offset;
}

/// Decodes all elements of the block at `block`.
inline void decodeBlock(Type type, const std::byte* block, std::span<double> values) {
    for (size_t i = 0; i < blockElements(type); ++i) values[i] = decodeElement(type, block, i);
}

namespace formats {

/// Why encodeGroup() refuses; empty if it does not.
inline std::string groupRefusal(Type type, std::span<const uint8_t> codes, double scale, double zero, size_t room) {
    const Group g = groupOf(type);
    const std::string name(typeName(type));
    if (!g.bits)
        return (name.empty() ? "type " + numberText(static_cast<int>(type)) : name) +
               " has no scale and zero point for each group; u4_g32 to u8_g128_f32 have";
    if (codes.size() != blockElements(type))
        return "a group of " + name + " has " + numberText(blockElements(type)) + " codes, not " +
               numberText(codes.size());
    if (room < bytesOf(type))
        return "a block of " + name + " has " + numberText(bytesOf(type)) + " bytes, and there is room for " +
               numberText(room);
    for (size_t i = 0; i < codes.size(); ++i)
        if (codes[i] >> g.bits)
            return "code " + numberText(i) + " is " + numberText(static_cast<int>(codes[i])) + ", but the codes of " +
                   name + " are 0 to 15; u8_g* has codes up to 255";
    const Type stored = g.scaleBytes == 2 ? VKGEMM_TYPE_F16 : VKGEMM_TYPE_F32;
    const struct {
        const char* name;
        double value;
        bool may_vanish;
    } factors[] = {{"scale", scale, false}, {"zero point", zero, true}};
    for (const auto& [what, value, may_vanish] : factors) {
        std::byte bytes[4];
        encode(stored, value, bytes);
        const double number = decode(stored, bytes);
        if (std::isfinite(number) && (number != 0 || value == 0 || may_vanish)) continue;
        return std::string("the ") + what + " is " + numberText(value) + ", which " + std::string(typeName(stored)) +
               " stores as " + numberText(number) +
               (g.scaleBytes == 2 && std::isfinite(value) ? "; " + name + "_f32 has an f32 in its place" : "");
    }
    return {};
}

}  // namespace formats

/// Writes a block of a format with groups (u4_g32 to u8_g128_f32) from tensors of their own: its codes, one each (of
/// signed formats as int8_t would be stored), its scale and its zero point, which are rounded to the type in the block.
/// Refuses, and writes nothing, if the format has no groups, if a span has another size, if a code has too many bits,
/// or if rounding makes the scale or the zero point infinite or the scale 0.
inline Status encodeGroup(Type type, std::span<const uint8_t> codes, double scale, double zero,
                          std::span<std::byte> block) {
    if (std::string why = formats::groupRefusal(type, codes, scale, zero, block.size()); !why.empty())
        return {.code = VKGEMM_ERROR_INVALID_ARGUMENT, .text = std::move(why)};
    const formats::Group g = formats::groupOf(type);
    const Type stored = g.scaleBytes == 2 ? VKGEMM_TYPE_F16 : VKGEMM_TYPE_F32;
    std::memset(block.data(), 0, bytesOf(type));
    encode(stored, scale, block.data());
    encode(stored, zero, block.data() + g.scaleBytes);
    for (size_t i = 0; i < codes.size(); ++i) formats::putCode(type, block.data(), i, codes[i]);
    return {};
}

/// Writes a block whose elements approximate `values`. Whole numbers that the format can hold with scales of 1 are kept
/// exactly. If a value is NaN or infinite, every element becomes NaN if the format has NaN. This is a quantiser for
/// tests, not a good one.
inline void encodeBlock(Type type, std::span<const double> values, std::byte* block) {
    const size_t count = blockElements(type);
    if (count == 1) return encode(type, values[0], block);
    const formats::Traits traits = formats::traitsOf(type);
    std::memset(block, 0, bytesOf(type));
    std::array<double, 16> scale{}, least{};
    const size_t subs = count / traits.sub;
    const double middle = traits.codes / 2.0, top = traits.offset ? middle - 1 : traits.largest;
    bool whole = true, finite = true;
    for (size_t i = 0; i < count; ++i) {
        whole = whole && values[i] == std::floor(values[i]) && std::fabs(values[i]) <= top;
        finite = finite && std::isfinite(values[i]);
    }
    for (size_t s = 0; s < subs; ++s) {
        const auto part = values.subspan(s * traits.sub, traits.sub);
        const auto [low, high] = std::minmax_element(part.begin(), part.end());
        least[s] = !traits.offset ? 0 : whole ? middle : std::max(-*low, 0.0);
        const double range = traits.offset ? *high + least[s] : std::max(std::fabs(*low), std::fabs(*high));
        const bool none = type == VKGEMM_TYPE_IQ4_NL && range == 0;  // only a scale of 0 gives 0
        scale[s] = whole && !none ? 1 : std::max(range, 0.0) / traits.largest;
    }
    if (!finite) {
        scale.fill(std::numeric_limits<double>::quiet_NaN());
        least.fill(0);
        whole = true;
    }
    formats::putScales(type, block, std::span(scale).first(subs), std::span(least).first(subs), whole);
    formats::Scale s{};
    for (size_t i = 0; finite && i < count; ++i) {
        if (i % traits.sub == 0) s = formats::scaleOf(type, block, i / traits.sub);
        const double number = s.scale == 0 ? 0 : (values[i] - s.offset) / s.scale;
        formats::putCode(type, block, i, formats::nearestCode(type, traits.codes, number));
    }
}

}  // namespace vkgemm
#endif
