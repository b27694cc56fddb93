// SPDX-License-Identifier: MIT
// Elements of exact cases. Pure.
#pragma once
#include "measure/numbers.h"

namespace vkgemm::tool {

/// Random bits, the same for the same arguments.
inline uint64_t mixed(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    Random r{a * 0x9e3779b97f4a7c15u ^ b * 0xc2b2ae3d27d4eb4fu ^ c * 0x165667b19e3779f9u ^ d};
    return r.next();
}

/// A whole number of [-range, range], or of [0, range] where the type has no sign.
inline int whole(Type type, int range, uint64_t bits) {
    if (type == u8) return static_cast<int>(bits % static_cast<uint64_t>(range + 1));
    return static_cast<int>(bits % static_cast<uint64_t>(2 * range + 1)) - range;
}

/// Calls `body(word)` with an unsigned number as wide as an element.
template <class Body>
auto by_width(uint32_t bytes, const Body& body) {
    switch (bytes) {
        case 1:
            return body(uint8_t{});
        case 2:
            return body(uint16_t{});
        case 4:
            return body(uint32_t{});
        default:
            return body(uint64_t{});
    }
}

}  // namespace vkgemm::tool
