// SPDX-License-Identifier: MIT
//
// The hash FNV-1a of 64 bits, and its text. Header only, without Vulkan; a later version may change it.
#ifndef VKGEMM_HASH_HPP
#define VKGEMM_HASH_HPP

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace vkgemm {

/// The hash of nothing.
constexpr uint64_t emptyHash = 0xcbf29ce484222325;

/// The hash of what `hash` is of, and then of `word`.
constexpr uint64_t hashed(uint64_t hash, uint64_t word) { return (hash ^ word) * 0x100000001b3; }

inline uint64_t hashOf(std::span<const std::byte> bytes) {
    uint64_t hash = emptyHash;
    for (const std::byte byte : bytes) hash = hashed(hash, static_cast<uint64_t>(byte));
    return hash;
}

/// A hash as the text of a problem and a capture have it: 16 hexadecimal digits.
inline std::string hashText(uint64_t hash) {
    std::string text(16, '0');
    for (size_t i = text.size(); i-- > 0; hash >>= 4) text[i] = "0123456789abcdef"[hash & 15];
    return text;
}

}  // namespace vkgemm
#endif
