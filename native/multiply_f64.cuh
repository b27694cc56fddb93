// SPDX-License-Identifier: MIT
// Products of f64. wgmma has none; these are by warp: a warp multiplies 16 rows of A by all columns of B, both from
// shared memory, over the 16 of k that a line of 128 bytes holds.
#pragma once
#include "native/multiply.cuh"

namespace vkgemm::native {

DEVICE void load_pair(f64& x, f64& y, uint32_t from) {
    asm volatile("ld.shared.v2.f64 {%0, %1}, [%2];" : "=d"(x), "=d"(y) : "r"(from) : "memory");
}

/// d += A B, of 16 rows, 8 columns and 16 of k.
DEVICE void multiply_16_8_16(f64* d, const f64 (&a)[8], const f64 (&b)[4]) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, "
        "{%12, %13, %14, %15}, {%0, %1, %2, %3};"
        : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b[0]), "d"(b[1]),
          "d"(b[2]), "d"(b[3]));
}

/// Adds products of tiles whose lines run along k. `a` is where the warp's 16 rows begin. Of a line a lane reads the
/// units 2 q and 2 q + 1 of 16 bytes, q its number among the four that share rows: so eight lanes never meet in a bank,
/// and the order of k is the same in A and B.
template <int count>
DEVICE void multiply_lines(f64 (&d)[count], uint32_t a, uint32_t b, uint32_t lane) {
    const uint32_t row = lane / 4, first = lane % 4 * 2;
    const auto unit = [&](uint32_t line, uint32_t number) { return line + ((first + number) ^ row) * 16; };
    const uint32_t a_line = a + row * box_bytes, b_line = b + row * box_bytes;
    f64 x[8];  // by k, the row and the one 8 below in turn
#pragma unroll
    for (uint32_t i = 0; i < 2; ++i) {
        load_pair(x[4 * i], x[4 * i + 2], unit(a_line, i));
        load_pair(x[4 * i + 1], x[4 * i + 3], unit(a_line + 8 * box_bytes, i));
    }
#pragma unroll
    for (int n = 0; n < count / 4; ++n) {  // 8 columns
        f64 y[4];
        load_pair(y[0], y[1], unit(b_line + n * 8 * box_bytes, 0));
        load_pair(y[2], y[3], unit(b_line + n * 8 * box_bytes, 1));
        multiply_16_8_16(d + 4 * n, x, y);
    }
}

}  // namespace vkgemm::native
