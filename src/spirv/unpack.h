// SPDX-License-Identifier: MIT
// SPIR-V modules as they are embedded: packed by src/spirv/pack.cpp when the library is built.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace vkgemm::spirv {

/// The variants of a module, in the order in which they are packed. A later one costs the time of those before it too.
/// Not every module has the last one. The first one is packed after the base, a small module with what modules share:
/// the model that packs has learnt from it.
enum class Variant : uint32_t { descriptors, addresses, grouped };

// A packed module is a sequence of 32-bit words: the number of variants; three words of each (how many words of SPIR-V,
// their checksum, and how many packed words); then the packed words of each.
inline constexpr uint32_t header_words = 3, most_words = 1 << 20, most_variants = 3;

/// FNV-1a over words.
constexpr uint32_t checksum(std::span<const uint32_t> words) {
    uint32_t sum = 0x811c9dc5u;
    for (const uint32_t w : words) sum = (sum ^ w) * 0x01000193u;
    return sum;
}

/// The SPIR-V of one variant; nothing if it has none, or if `packed` and `packed_base` (the base; empty: packed without
/// one) are not what the packer wrote. May be called from any thread. It takes a few milliseconds and up to two
/// megabytes, which it frees. Throws std::bad_alloc.
std::optional<std::vector<uint32_t>> unpack(std::span<const uint32_t> packed, Variant,
                                            std::span<const uint32_t> packed_base);

}  // namespace vkgemm::spirv
