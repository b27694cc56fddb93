// SPDX-License-Identifier: MIT
// vkgemm_blas_hold and what belongs to it, and a matrix to hold.
#pragma once
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "blas/cpu_blas.h"
#include "blas/library.h"
#include "support/random.h"

namespace vkgemm::test {

inline int hold(void* address, size_t bytes) {
    return reinterpret_cast<int (*)(void*, size_t)>(blas_function("vkgemm_blas_hold"))(address, bytes);
}
inline int flush(const void* address) {
    return reinterpret_cast<int (*)(const void*)>(blas_function("vkgemm_blas_flush"))(address);
}
inline int forget(const void* address) {
    return reinterpret_cast<int (*)(const void*)>(blas_function("vkgemm_blas_forget"))(address);
}

/// A matrix of whole numbers that products add to, by the library and plainly, with NaN between columns.
template <class T>
struct Sum {
    int64_t m, n, ld;
    std::vector<T> c, wanted;
    int next_failure = -1;  // fail_allocation() in calls

    Sum(int64_t rows, int64_t columns, uint64_t seed) : m(rows), n(columns), ld(rows + 3) {
        Random random(seed);
        c.resize(static_cast<size_t>(ld * n), T(std::numeric_limits<float>::quiet_NaN()));
        for (int64_t j = 0; j < n; ++j)
            for (int64_t i = 0; i < m; ++i) c[at(i, j)] = number(random);
        wanted = c;
    }
    size_t at(int64_t i, int64_t j) const { return static_cast<size_t>(i + j * ld); }
    size_t bytes() const { return c.size() * sizeof(T); }
    static T number(Random& random) { return T(static_cast<float>(random.between(0, 4)) - 2); }

    /// Rows from `i` and columns from `j` on.
    void add(int64_t i, int64_t j, int64_t rows, int64_t columns, int64_t k, T alpha, T beta, uint64_t seed) {
        Random random(seed);
        std::vector<T> a(static_cast<size_t>(rows * k)), b(static_cast<size_t>(k * columns));
        for (T& x : a) x = number(random);
        for (T& x : b) x = number(random);
        blas::Gemm<T> g{blas::Op::none, blas::Op::transpose, rows, columns, k, alpha, a.data(), rows, b.data(), columns,
                        beta,           c.data() + at(i, j), ld};
        const auto call = entries<T>().front().call;
        fail_allocation(next_failure);
        call(g);
        fail_allocation(-1);
        g.c = wanted.data() + at(i, j);
        multiply_plainly(g);
    }
    void add(int64_t k, T alpha, T beta, uint64_t seed) { add(0, 0, m, n, k, alpha, beta, seed); }

    /// Elements that differ, of which those count apart that are NaN; -1 if a gap has changed.
    struct Differences {
        int nan = 0, wrong = 0;
    };
    Differences differences() const {
        Differences found;
        for (int64_t j = 0; j < n; ++j)
            for (int64_t i = 0; i < ld; ++i) {
                const T x = c[at(i, j)], y = wanted[at(i, j)];
                if (i < m ? x == y : std::memcmp(&x, &y, sizeof x) == 0) continue;
                ++(i < m && std::isnan(std::real(x)) ? found.nan : found.wrong);
            }
        return found;
    }
    bool is_right() const {
        const Differences d = differences();
        return d.nan == 0 && d.wrong == 0;
    }
};

template <class T>
bool is_on_device() {
    const int before = cpu_calls();
    Sum<T> sum(2, 2, 1);
    sum.add(2, T{1}, T{1}, 1);
    return cpu_calls() == before;
}

}  // namespace vkgemm::test
