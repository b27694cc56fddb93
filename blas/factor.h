// SPDX-License-Identifier: MIT
// One factorization P A = L U: by the device and the CPU together, and what is left after a failure by the CPU alone.
#pragma once
#include <memory>

#include "blas/product.h"
#include "blas/resident.h"

namespace vkgemm::blas {

/// Seconds of the calling thread, for VKGEMM_BLAS_LOG=calls. rows: of U, to A.
struct LuSpent {
    double send = 0, panels = 0, exchanges = 0, solves = 0, waits = 0, rows = 0;
};

/// The seconds since it was asked last.
class Lap {
   public:
    double seconds() {
        const auto since = std::exchange(last_, Clock::now());
        return std::chrono::duration<double>(last_ - since).count();
    }

   private:
    Clock::time_point last_ = Clock::now();
};

/// `Next` computes by the next LAPACK and BLAS, with the matrix where it is:
///   int64_t factor(int64_t m, int64_t n, T* a, int64_t lda, Int* pivots)   as getrf; returns info
///   void solve(const Level3<T>&)                                           trsm
///   void multiply(const Gemm<T>&)
/// A always is a state from which the CPU can go on: all exchanges of rows of the panels that are done were applied to
/// all columns; panels and rows of U are written when they are final, and everything else is as it was.
template <class T, class Int, class Next>
class Factorization {
   public:
    Factorization(const Lu<T>& p, Int* pivots, const Next& next) : p_(p), pivots_(pivots), next_(next) {}

    /// Does not throw. A failure leaves work for rest().
    Status on_device(Engine& engine, const ResidentShape& shape) {
        std::unique_ptr<ResidentMatrix> matrix;
        Status done;
        Lap lap;
        try {
            matrix = std::make_unique<ResidentMatrix>(engine, shape);
            done = matrix->open();
            if (done)
                done = matrix->send([&](std::byte* to, int64_t ld, int64_t first, int64_t count, int64_t begin,
                                        int64_t end) { pack(engine, to, ld, first, count, begin, end); });
            spent_.send = lap.seconds();
            if (done) done = steps(engine, *matrix, shape.panel);
        } catch (const std::exception& e) {
            done = {VKGEMM_ERROR_OUT_OF_MEMORY, VK_SUCCESS, e.what()};
        }
        if (matrix && !matrix->finish()) static_cast<void>(matrix.release());  // the device may still use it
        return done;
    }

    bool is_untouched() const { return columns_ == 0; }
    bool is_complete() const { return rows_ == p_.order() && columns_ == p_.order(); }
    /// LAPACK's: the first column, from 1, whose pivot is 0; or 0.
    int64_t info() const { return info_; }
    const LuSpent& spent() const { return spent_; }

    /// By the next LAPACK and BLAS.
    void rest() {
        const int64_t c = columns_, r = rows_, right = p_.n - c;
        if (r < c && right > 0) {  // these rows of U
            if (r > 0) next_.multiply(product(r, c - r, r));
            next_.solve({.kind = Kind::trsm,
                         .left = true,
                         .unit = true,
                         .m = c - r,
                         .n = right,
                         .alpha = T{1},
                         .a = p_.at(r, r),
                         .lda = p_.lda,
                         .c = p_.at(r, c),
                         .ldc = p_.lda});
        }
        rows_ = c;
        if (c == p_.order()) return;
        if (c > 0) next_.multiply(product(c, p_.m - c, c));
        factor(c, right, p_.at(c, c), p_.lda);
        const auto pivots = pivots_of(c, p_.order() - c);
        for (int64_t j = 0; j < c; ++j) exchange_rows(p_.at(c, j), pivots);
        count_from_first_row(c, p_.order() - c);
        columns_ = rows_ = p_.order();
    }

   private:
    /// Rows from `row` of the columns that are not done -= L U, of this depth.
    Gemm<T> product(int64_t row, int64_t rows, int64_t depth) const {
        return {.m = rows,
                .n = p_.n - columns_,
                .k = depth,
                .alpha = T{-1},
                .a = p_.at(row, 0),
                .lda = p_.lda,
                .b = p_.at(0, columns_),
                .ldb = p_.lda,
                .beta = T{1},
                .c = p_.at(row, columns_),
                .ldc = p_.lda};
    }
    std::span<const Int> pivots_of(int64_t first, int64_t count) const {
        return {pivots_ + first, static_cast<size_t>(count)};
    }
    /// LAPACK's pivots count from the first row of the whole matrix.
    void count_from_first_row(int64_t first, int64_t count) {
        for (int64_t i = first; i < first + count; ++i) pivots_[i] = static_cast<Int>(pivots_[i] + first);
    }
    void factor(int64_t first, int64_t columns, T* a, int64_t ld) {
        const int64_t info = next_.factor(p_.m - first, columns, a, ld, pivots_ + first);
        if (info > 0 && info_ == 0) info_ = first + info;
    }

    void pack(Engine& engine, std::byte* to, int64_t ld, int64_t first, int64_t count, int64_t begin, int64_t end) {
        constexpr int64_t group = 64;  // rows
        const auto some = [&](int64_t from, int64_t until) {
            const int64_t row = begin + from * group, last = std::min(end, begin + until * group);
            transpose(p_.at(row, first), p_.lda, last - row, count, reinterpret_cast<T*>(to) + (row - begin) * ld, ld);
        };
        share(engine, (end - begin + group - 1) / group, group * count, some);
    }

    Status steps(Engine& engine, ResidentMatrix& matrix, int64_t panel) {
        const auto first_panel = [&](int64_t begin, int64_t end) {
            for (int64_t c = begin; c < end; ++c) std::copy_n(p_.at(0, c), p_.m, in_panel(matrix, c));
        };
        share(engine, panel, p_.m, first_panel);
        Lap lap;
        for (int64_t j = 0; j < p_.order(); j += panel) {
            const int64_t width = std::min(panel, p_.order() - j), next = std::min(panel, p_.order() - j - width);
            spent_.waits += lap.seconds();
            factor(j, width, in_panel(matrix, 0), matrix.panel_ld());
            spent_.panels += lap.seconds();
            const RowMoves moves(pivots_of(j, width));
            const bool last = j + width == p_.n;
            const Status sent = last ? Status{} : matrix.exchange(j, width, moves);
            take_panel(engine, matrix, j, width);
            columns_ = j + width;
            if (last) return rows_ = columns_, sent;
            if (!sent) return sent;
            spent_.exchanges += lap.seconds();
            if (Status s = matrix.wait_rows(); !s) return s;
            spent_.waits += lap.seconds();
            const std::vector<ResidentMatrix::Part> parts = matrix.parts(columns_);
            for (const ResidentMatrix::Part& part : parts) solve(matrix, part, width);
            spent_.solves += lap.seconds();
            const Status updated = next > 0 ? matrix.update(j, width, next) : Status{};
            take_rows(engine, parts, j, width);
            rows_ = columns_;
            spent_.rows += lap.seconds();
            if (!updated || next == 0) return updated;
            if (Status s = matrix.wait_panel(); !s) return s;
        }
        return {};
    }

    /// U = L^-1 (rows of A), of which the rows are columns here.
    void solve(const ResidentMatrix& matrix, const ResidentMatrix::Part& part, int64_t width) const {
        next_.solve({.kind = Kind::trsm,
                     .left = false,
                     .op = Op::transpose,
                     .unit = true,
                     .m = part.count,
                     .n = width,
                     .alpha = T{1},
                     .a = in_panel(matrix, 0),
                     .lda = matrix.panel_ld(),
                     .c = reinterpret_cast<T*>(part.rows),
                     .ldc = part.ld});
    }

    /// The panel's columns are final; all others exchange rows.
    void take_panel(Engine& engine, const ResidentMatrix& matrix, int64_t first, int64_t width) {
        const auto pivots = pivots_of(first, width);
        const auto columns = [&](int64_t begin, int64_t end) {
            for (int64_t c = begin; c < end; ++c)
                if (c >= first && c < first + width)
                    std::copy_n(in_panel(matrix, c - first), p_.m - first, p_.at(first, c));
                else
                    exchange_rows(p_.at(first, c), pivots);
        };
        share(engine, p_.n, 16 * width, columns);
        count_from_first_row(first, width);
    }

    void take_rows(Engine& engine, const std::vector<ResidentMatrix::Part>& parts, int64_t first, int64_t width) {
        for (const ResidentMatrix::Part& part : parts) {
            const auto columns = [&](int64_t begin, int64_t end) {
                transpose(reinterpret_cast<const T*>(part.rows) + begin, part.ld, end - begin, width,
                          p_.at(first, part.first + begin), p_.lda);
            };
            share(engine, part.count, width, columns);
        }
    }

    static T* in_panel(const ResidentMatrix& matrix, int64_t column) {
        return reinterpret_cast<T*>(matrix.panel()) + column * matrix.panel_ld();
    }
    /// By reference, so that nothing is allocated and nothing thrown while A changes.
    template <class Work>
    static void share(Engine& engine, int64_t count, int64_t elements_each, const Work& work) {
        engine.workers().run(count, static_cast<uint64_t>(count * elements_each) * sizeof(T), std::ref(work));
    }

    const Lu<T> p_;
    Int* const pivots_;
    const Next& next_;
    int64_t columns_ = 0, rows_ = 0;  // panels, and rows of U, that are done; rows may be one step behind
    int64_t info_ = 0;
    LuSpent spent_{};
};

}  // namespace vkgemm::blas
