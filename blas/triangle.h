// SPDX-License-Identifier: MIT
// gemmt: one triangle of C = alpha op(A) op(B) + beta C, as products. Pure.
#pragma once
#include "blas/diagonal.h"
#include "vkgemm/rounding.hpp"

namespace vkgemm::blas {

/// The Gemm is of the whole square: m = n.
template <class T>
struct Gemmt {
    bool upper = false;
    Gemm<T> g{};
};

/// multiply(Gemm) computes a product. Blocks of the diagonal of at most `block` rows are computed as whole squares, in
/// other memory; without that, column by column.
template <class T, class Multiply>
void multiply_triangle(const Gemmt<T>& p, int64_t block, const Multiply& multiply) {
    const Gemm<T>& g = p.g;
    if (g.n <= 0) return;
    if (g.n > block) {
        const int64_t first = roundUp(g.n / 2, block), rest = g.n - first;
        multiply_triangle<T>({p.upper, part(g, 0, 0, first, first)}, block, multiply);
        multiply(p.upper ? part(g, 0, first, first, rest) : part(g, first, 0, rest, first));
        return multiply_triangle<T>({p.upper, part(g, first, first, rest, rest)}, block, multiply);
    }
    if (const auto sum = square_of<T>(g.n)) {
        Gemm<T> square = g;
        square.beta = T{};
        square.c = sum.get();
        square.ldc = g.n;
        multiply(square);
        return add_triangle<T>({.kind = Kind::syrk, .upper = p.upper, .n = g.n, .beta = g.beta, .c = g.c, .ldc = g.ldc},
                               sum.get());
    }
    for (int64_t j = 0; j < g.n; ++j) multiply(p.upper ? part(g, 0, j, j + 1, 1) : part(g, j, j, g.n - j, 1));
}

}  // namespace vkgemm::blas
