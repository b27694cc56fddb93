// SPDX-License-Identifier: MIT
// LU, triangles and their use by the definition: the CPU LAPACK of the tests, and what they compare with. Rows and
// columns count from 0, pivots from 1.
#pragma once
#include <cmath>
#include <cstdint>
#include <utility>

namespace vkgemm::test {

/// P A = L U, column by column. Returns the first column from 1 whose pivot is 0, or 0. Of equal pivots the first one.
template <class T, class Int>
int64_t factor_plainly(int64_t m, int64_t n, T* a, int64_t lda, Int* pivots) {
    int64_t info = 0;
    for (int64_t j = 0; j < (m < n ? m : n); ++j) {
        int64_t best = j;
        for (int64_t i = j + 1; i < m; ++i)
            if (std::abs(a[i + j * lda]) > std::abs(a[best + j * lda])) best = i;
        pivots[j] = static_cast<Int>(best + 1);
        if (a[best + j * lda] == T{}) {
            if (info == 0) info = j + 1;
            continue;
        }
        for (int64_t c = 0; c < n; ++c) std::swap(a[j + c * lda], a[best + c * lda]);
        for (int64_t i = j + 1; i < m; ++i) a[i + j * lda] /= a[j + j * lda];
        for (int64_t c = j + 1; c < n; ++c)
            for (int64_t i = j + 1; i < m; ++i) a[i + c * lda] -= a[i + j * lda] * a[j + c * lda];
    }
    return info;
}

/// One triangle of a real matrix as trsm takes it; element (i, j) of op(A).
template <class T>
struct Triangle {
    bool upper, transposed, unit;
    const T* a;
    int64_t lda;
    T at(int64_t i, int64_t j) const {
        if (i == j && unit) return T{1};
        if (transposed) std::swap(i, j);
        return (upper ? i <= j : i >= j) ? a[i + j * lda] : T{};
    }
    bool is_upper() const { return upper != transposed; }
};

/// x = op(A)^-1 x, with `step` elements from one to the next.
template <class T>
void solve_plainly(const Triangle<T>& t, int64_t n, T* x, int64_t step) {
    for (int64_t k = 0; k < n; ++k) {
        const int64_t i = t.is_upper() ? n - 1 - k : k;
        T sum = x[i * step];
        for (int64_t j = t.is_upper() ? i + 1 : 0; j < (t.is_upper() ? n : i); ++j) sum -= t.at(i, j) * x[j * step];
        x[i * step] = sum / t.at(i, i);
    }
}

/// op(A) X = B from the factors of A.
template <class T, class Int>
void solve_with_factors(bool transposed, int64_t n, int64_t nrhs, const T* a, int64_t lda, const Int* pivots, T* b,
                        int64_t ldb) {
    const Triangle<T> lower{false, transposed, true, a, lda}, upper{true, transposed, false, a, lda};
    for (int64_t j = 0; j < nrhs; ++j) {
        T* const x = b + j * ldb;
        for (int64_t i = 0; i < n && !transposed; ++i) std::swap(x[i], x[pivots[i] - 1]);
        solve_plainly(transposed ? upper : lower, n, x, 1);
        solve_plainly(transposed ? lower : upper, n, x, 1);
        for (int64_t i = n; i-- > 0 && transposed;) std::swap(x[i], x[pivots[i] - 1]);
    }
}

}  // namespace vkgemm::test
