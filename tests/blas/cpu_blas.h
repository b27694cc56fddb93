// SPDX-License-Identifier: MIT
// What the tests' own BLAS and the tests share.
#pragma once
#include <optional>

#include "blas/call.h"

namespace vkgemm::test {

/// What test_cpu_blas_hook() was given last, or nothing. getrf and sgemm_batch_strided_ call it.
void call_hook();

inline std::optional<blas::Op> op_of(char letter) {
    if (letter == 'n' || letter == 'N') return blas::Op::none;
    if (letter == 't' || letter == 'T') return blas::Op::transpose;
    if (letter == 'c' || letter == 'C') return blas::Op::conjugate_transpose;
    return {};
}

/// By the definition, in the order of the definition. C is not read where beta is 0.
template <class T>
void multiply_plainly(const blas::Gemm<T>& g) {
    const auto at = [](blas::Op op, const T* matrix, int64_t ld, int64_t row, int64_t column) {
        if (op == blas::Op::none) return matrix[row + column * ld];
        const T x = matrix[column + row * ld];
        if constexpr (blas::is_complex<T>)
            return op == blas::Op::conjugate_transpose ? std::conj(x) : x;
        else
            return x;
    };
    for (int64_t j = 0; j < g.n; ++j)
        for (int64_t i = 0; i < g.m; ++i) {
            T sum{};
            if (g.alpha != T{})
                for (int64_t l = 0; l < g.k; ++l) sum += at(g.op_a, g.a, g.lda, i, l) * at(g.op_b, g.b, g.ldb, l, j);
            T& c = g.c[i + j * g.ldc];
            c = (g.alpha == T{} ? T{} : g.alpha * sum) + (g.beta == T{} ? T{} : g.beta * c);
        }
}

}  // namespace vkgemm::test
