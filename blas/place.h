// SPDX-License-Identifier: MIT
// Where a matrix lies in the memory of the host. Pure.
#pragma once
#include <cstdint>

namespace vkgemm::blas {

/// `columns` columns of `rows` bytes, which begin `ld` bytes apart.
struct Place {
    const void* address = nullptr;
    uint64_t rows = 0, columns = 0, ld = 0;

    uint64_t begin() const { return reinterpret_cast<uintptr_t>(address); }
    uint64_t bytes() const { return rows == 0 || columns == 0 ? 0 : (columns - 1) * ld + rows; }
    uint64_t end() const { return begin() + bytes(); }
};

/// All of some bytes.
inline Place place_of(const void* address, uint64_t bytes) {
    return {.address = address, .rows = bytes, .columns = 1, .ld = bytes};
}

/// A matrix whose elements have so many bytes. Empty where a size is not above 0.
inline Place place_of(const void* address, int64_t rows, int64_t columns, int64_t ld, uint64_t element) {
    if (rows <= 0 || columns <= 0) return {.address = address};
    const auto bytes = [&](int64_t x) { return static_cast<uint64_t>(x) * element; };
    return {.address = address, .rows = bytes(rows), .columns = static_cast<uint64_t>(columns), .ld = bytes(ld)};
}

inline bool contains(const Place& outer, const Place& inner) {
    return outer.begin() <= inner.begin() && inner.end() <= outer.end();
}

/// Whether they have a byte in common: exactly for parts of one matrix, which interleave; otherwise also where the gaps
/// of one have the other.
inline bool overlap(const Place& a, const Place& b) {
    if (a.bytes() == 0 || b.bytes() == 0 || a.begin() >= b.end() || b.begin() >= a.end()) return false;
    if (a.ld != b.ld || a.rows > a.ld || b.rows > b.ld || a.ld > INT64_MAX) return true;
    const auto signed_of = [](uint64_t x) { return static_cast<int64_t>(x); };
    const int64_t ld = signed_of(a.ld), offset = signed_of(b.begin() - a.begin());
    int64_t column = offset / ld, row = offset % ld;  // of b's first byte, counted from that of a
    if (row < 0) {
        row += ld;
        --column;
    }
    for (int wraps = 0; wraps < 2; ++wraps, row -= ld, ++column)
        if (row < signed_of(a.rows) && row + signed_of(b.rows) > 0 && column < signed_of(a.columns) &&
            column + signed_of(b.columns) > 0)
            return true;
    return false;
}

}  // namespace vkgemm::blas
