// SPDX-License-Identifier: MIT
// One call of a gemm routine, in the terms of Fortran BLAS: every matrix is column-major. Pure.
#pragma once
#include <algorithm>
#include <complex>
#include <cstdint>
#include <type_traits>

namespace vkgemm::blas {

enum class Routine : uint8_t { sgemm, dgemm, cgemm, zgemm };
inline constexpr const char* routine_names[] = {"sgemm", "dgemm", "cgemm", "zgemm"};
inline constexpr size_t routine_count = std::size(routine_names);

template <class T>
inline constexpr bool is_complex = !std::is_floating_point_v<T>;

template <class T>
inline constexpr Routine routine_of = std::is_same_v<T, float>                 ? Routine::sgemm
                                      : std::is_same_v<T, double>              ? Routine::dgemm
                                      : std::is_same_v<T, std::complex<float>> ? Routine::cgemm
                                                                               : Routine::zgemm;

enum class Op : uint8_t { none, transpose, conjugate_transpose };
inline constexpr char op_letters[] = {'N', 'T', 'C'};

/// C = alpha op(A) op(B) + beta C. Leading dimensions count elements of T.
template <class T>
struct Gemm {
    Op op_a = Op::none, op_b = Op::none;
    int64_t m = 0, n = 0, k = 0;  // C is m x n, op(A) is m x k, op(B) is k x n
    T alpha{};
    const T* a = nullptr;
    int64_t lda = 0;
    const T* b = nullptr;
    int64_t ldb = 0;
    T beta{};
    T* c = nullptr;
    int64_t ldc = 0;
};

/// What reference BLAS checks before it computes. If false, its xerbla must be called, by the CPU BLAS.
template <class T>
bool is_valid(const Gemm<T>& g) {
    const auto least = [](int64_t rows) { return std::max<int64_t>(1, rows); };
    return g.m >= 0 && g.n >= 0 && g.k >= 0 && g.lda >= least(g.op_a == Op::none ? g.m : g.k) &&
           g.ldb >= least(g.op_b == Op::none ? g.k : g.n) && g.ldc >= least(g.m);
}

/// A and B are read. Otherwise the call is at most C = beta C.
template <class T>
bool has_product(const Gemm<T>& g) {
    return g.m > 0 && g.n > 0 && g.k > 0 && g.alpha != T{};
}

/// The part of the call that computes the rows from `i` and the columns from `j` of C.
template <class T>
Gemm<T> part(const Gemm<T>& g, int64_t i, int64_t j, int64_t rows, int64_t columns) {
    Gemm<T> p = g;
    p.m = rows;
    p.n = columns;
    p.a += g.op_a == Op::none ? i : i * g.lda;
    p.b += g.op_b == Op::none ? j * g.ldb : j;
    p.c += i + j * g.ldc;
    return p;
}

}  // namespace vkgemm::blas
