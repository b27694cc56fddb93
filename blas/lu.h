// SPDX-License-Identifier: MIT
// P A = L U with partial pivoting, of a matrix whose trailing part stays on the device: what is decided and computed on
// the host. Rows and columns count from 0. Pure.
#pragma once
#include <map>
#include <utility>
#include <vector>

#include "blas/decision.h"

namespace vkgemm::blas {

/// A is m x n, column-major.
template <class T>
struct Lu {
    int64_t m = 0, n = 0;
    T* a = nullptr;
    int64_t lda = 0;
    int64_t order() const { return std::min(m, n); }
    T* at(int64_t row, int64_t column) const { return a + row + column * lda; }
};

template <class T>
bool is_valid(const Lu<T>& p) {
    return p.m >= 0 && p.n >= 0 && p.lda >= std::max<int64_t>(1, p.m);
}

/// One after the other: row i and row pivots[i], which counts from 1, change places.
template <class T, class Int>
void exchange_rows(T* column, std::span<const Int> pivots) {
    for (size_t i = 0; i < pivots.size(); ++i) std::swap(column[i], column[pivots[i] - 1]);
}

/// What these exchanges come to: which row each of the first rows gets, and which of the first rows go further down.
/// Only places that a row has left, and that are not among the first rows, get another one. So if all that comes up is
/// read first, nothing is lost, and no place is both read and written.
struct RowMoves {
    struct Move {
        int64_t from, to;
    };
    std::vector<int64_t> up{};
    std::vector<Move> down{};

    template <class Int>
    explicit RowMoves(std::span<const Int> pivots) : up(pivots.size()) {
        const auto top = static_cast<int64_t>(pivots.size());
        std::map<int64_t, int64_t> below;  // the row that is there
        for (int64_t i = 0; i < top; ++i) up[static_cast<size_t>(i)] = i;
        for (size_t i = 0; i < pivots.size(); ++i) {
            const int64_t p = static_cast<int64_t>(pivots[i]) - 1;
            std::swap(up[i], p < top ? up[static_cast<size_t>(p)] : below.try_emplace(p, p).first->second);
        }
        for (const auto& [to, from] : below) down.push_back({from, to});
    }
};

/// Operations of the whole factorization, and of its panels, which have `width` columns; bytes that travel.
struct LuCost {
    double all = 0, panels = 0, up = 0, down = 0;
};
inline LuCost cost_of_lu(int64_t rows, int64_t columns, int64_t panel, size_t element) {
    const double m = static_cast<double>(rows), n = static_cast<double>(columns), k = std::min(m, n),
                 width = static_cast<double>(panel), bytes = static_cast<double>(element);
    const double lower = m * k - k * k / 2;  // elements of L
    return {.all = 2 * m * n * k - (m + n) * k * k + 2 * k * k * k / 3,
            .panels = lower * width,
            .up = bytes * (m * n + lower),
            .down = bytes * m * n};
}

/// Shares of the rate of the CPU BLAS's gemm that its LAPACK reaches. On 16 cores with 0.7 to 0.85 TFLOP/s in f64
/// dgetrf made 0.48 and 0.57 TFLOP/s for n = 20,000 and 0.4 for n = 4,000, and panels of 128 columns 0.045; sgetrf
/// 1.06 of 1.9, and 0.074.
inline constexpr double share_of_lu = 0.6, share_of_panel = 0.05;

inline double next_seconds_of_lu(const LuCost& c, double next_rate) { return c.all / (share_of_lu * next_rate); }
/// As if nothing overlapped.
inline double device_seconds_of_lu(const LuCost& c, const Rates& r, double next_rate, double steps) {
    return c.panels / (share_of_panel * next_rate) + c.up / r.up + c.down / r.down + c.all / r.operations +
           2 * steps * r.latency;
}

}  // namespace vkgemm::blas
