// SPDX-License-Identifier: MIT
// Blocks of the diagonal as whole products, with memory beside: twice the operations of an update, and still sooner
// than the CPU BLAS where the device is much faster. Not for triangles: what is 0 there must not meet an infinity.
#pragma once
#include <memory>
#include <new>

#include "blas/level3.h"

namespace vkgemm::blas {

template <class T>
std::unique_ptr<T[]> square_of(int64_t n) {
    return std::unique_ptr<T[]>(new (std::nothrow) T[static_cast<size_t>(n * n)]);
}

/// All of a symmetric (or Hermitian) matrix of which one triangle is stored.
template <class T>
void fill_square(const Level3<T>& p, T* to) {
    const int64_t n = p.order();
    for (int64_t j = 0; j < n; ++j)
        for (int64_t i = p.upper ? 0 : j; i < (p.upper ? j + 1 : n); ++i) {
            const T x = p.a[i + j * p.lda];
            to[i + j * n] = x;
            to[j + i * n] = p.kind == Kind::hemm ? conjugate(x) : x;
            if (i == j && p.kind == Kind::hemm) to[i + j * n] = std::real(x);  // its imaginary part is not read
        }
}

/// C = sum + beta C, in the triangle that is stored.
template <class T>
void add_triangle(const Level3<T>& p, const T* sum) {
    for (int64_t j = 0; j < p.n; ++j)
        for (int64_t i = p.upper ? 0 : j; i < (p.upper ? j + 1 : p.n); ++i) {
            T& c = p.c[i + j * p.ldc];
            c = sum[i + j * p.n] + (p.beta == T{} ? T{} : p.beta * c);
            if (i == j && has_conjugate(p.kind)) c = std::real(c);
        }
}

/// Computes a block of the diagonal by use.multiply, or returns false and has done nothing.
template <class T, class Use>
bool multiply_diagonal(const Level3<T>& p, const Use& use) {
    const int64_t n = p.order();
    if (is_triangular(p.kind) || n == 0) return false;
    Gemm<T> g{.m = p.m, .n = p.n, .k = p.k, .alpha = p.alpha, .a = p.a, .lda = p.lda, .b = p.b, .ldb = p.ldb};
    if (!is_update(p.kind)) {
        g.k = n;
        g.beta = p.beta;
        g.c = p.c;
        g.ldc = p.ldc;
        if (!use.is_worth(g)) return false;
        const auto all = square_of<T>(n);
        if (!all) return false;
        fill_square(p, all.get());
        g.a = p.left ? all.get() : p.b;
        g.lda = p.left ? n : p.ldb;
        g.b = p.left ? p.b : all.get();
        g.ldb = p.left ? p.ldb : n;
        use.multiply(g);
        return true;
    }
    const bool two = p.kind == Kind::syr2k || p.kind == Kind::her2k, plain = p.op == Op::none;
    const Op other = has_conjugate(p.kind) ? Op::conjugate_transpose : Op::transpose;
    g.op_a = plain ? Op::none : other;
    g.op_b = plain ? other : Op::none;
    g.m = n;
    g.ldc = n;
    if (!two) {
        g.b = p.a;
        g.ldb = p.lda;
    }
    if (!use.is_worth(g)) return false;
    const auto sum = square_of<T>(n);
    if (!sum) return false;
    g.c = sum.get();
    use.multiply(g);
    if (two) {
        std::swap(g.a, g.b);
        std::swap(g.lda, g.ldb);
        g.beta = T{1};
        if (p.kind == Kind::her2k) g.alpha = conjugate(g.alpha);
        use.multiply(g);
    }
    add_triangle(p, sum.get());
    return true;
}

}  // namespace vkgemm::blas
