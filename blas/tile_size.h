// SPDX-License-Identifier: MIT
// How large the tiles of a call are, and where its operands lie.
#pragma once
#include "blas/decision.h"
#include "blas/state.h"

namespace vkgemm::blas {

/// What the device multiplies for T.
template <class T>
inline constexpr Type type_of = sizeof(Real<T>) == 8 ? f64 : f32;

/// Rows and columns of a tile of C, and the depth of the products that add up to it, in real numbers.
struct TileSize {
    int64_t side = 2048, depth = 2048;
};
/// Larger ones for f32 where there are many of them, because the kernels do more with those: on an NVIDIA H200
/// products of 2048^3 run at 38 TFLOP/s and of 4096^3 at 45, in f64 at 47 either way. With few of them, sending the
/// first operands and fetching the last tile takes what that gains.
/// Smaller ones where C would have two a side: with three, less time passes before the first product and after the
/// last one. 4096^3 on an H100: dgemm 14.5 -> 15.3 TFLOP/s, sgemm 24.0 -> 24.5; 5120^3 has three a side anyway.
/// `resident`: C does, whose tiles then are those of every call, however deep it is.
template <class T>
TileSize tile_size(const Settings& chosen, const Gemm<T>& g, bool resident = false) {
    constexpr int64_t large = 4096, many = 16;
    const int64_t m = real_rows<T> * g.m, k = real_rows<T> * g.k;
    const bool is_large =
        !chosen.tile_given && type_of<T> == f32 && (m / large) * (g.n / large) >= many && (resident || k >= large);
    if (is_large) return {large, chosen.depth ? chosen.depth : large};
    const auto has_two = [&](int64_t size) { return size > chosen.tile && size <= 2 * chosen.tile; };
    const bool is_small = !chosen.tile_given && !resident && has_two(m) && has_two(g.n);
    return {is_small ? chosen.tile * 3 / 4 : chosen.tile, chosen.depth ? chosen.depth : chosen.tile};
}

/// How an operand is stored on the device, for Origin: two operands with the same form and place are the same.
template <class T>
uint32_t form_of(bool is_a, Op op) {
    return static_cast<uint32_t>(routine_of<T>) << 4 | uint32_t{is_a} << 3 | static_cast<uint32_t>(op);
}

inline constexpr uint32_t form_of_c = 1u << 2;  // beside form_of, whose last two bits are less

template <class T>
uint64_t extent(int64_t rows, int64_t columns, int64_t ld) {
    return static_cast<uint64_t>((columns - 1) * ld + rows) * sizeof(T);
}

template <class T>
Place place_of_c(const Gemm<T>& g) {
    return place_of(g.c, g.m, g.n, g.ldc, sizeof(T));
}
template <class T>
Place place_of_a(const Gemm<T>& g) {
    return g.op_a == Op::none ? place_of(g.a, g.m, g.k, g.lda, sizeof(T)) : place_of(g.a, g.k, g.m, g.lda, sizeof(T));
}
template <class T>
Place place_of_b(const Gemm<T>& g) {
    return g.op_b == Op::none ? place_of(g.b, g.k, g.n, g.ldb, sizeof(T)) : place_of(g.b, g.n, g.k, g.ldb, sizeof(T));
}

}  // namespace vkgemm::blas
