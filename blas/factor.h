// SPDX-License-Identifier: MIT
// One factorization P A = L U: by the device and the CPU together, and what is left after a failure by the CPU alone.
#pragma once
#include <memory>

#include "blas/product.h"
#include "blas/resident.h"

namespace vkgemm::blas {

/// Seconds of the calling thread, for VKGEMM_BLAS_LOG=calls. columns: panels, to A; exchanges: of rows left of them.
struct LuSpent {
    double open = 0, send = 0, panels = 0, submit = 0, columns = 0, wait = 0, exchanges = 0;
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

/// `Next` computes by the CPU LAPACK and BLAS, with the matrix where it is:
///   int64_t factor(int64_t m, int64_t n, T* a, int64_t lda, Int* pivots)   as getrf; returns info
///   void solve(const Level3<T>&)                                           trsm
///   void multiply(const Gemm<T>&)
/// A always is a state from which the CPU can go on: columns that are done have their final values, apart from the
/// exchanges of rows of later panels, and all others are as they came.
template <class T, class Int, class Next>
class Factorization {
   public:
    Factorization(const Lu<T>& p, Int* pivots, const Next& next) : p_(p), pivots_(pivots), next_(next) {}

    /// Does not throw. A failure leaves work for rest().
    Status on_device(Engine& engine, const ResidentShape& shape) {
        std::unique_ptr<ResidentMatrix> matrix;
        Status done;
        panel_ = shape.panel;
        try {
            matrix = std::make_unique<ResidentMatrix>(engine, shape);
            done = matrix->open();
            spent_.open = lap_.seconds();
            if (done) done = send(engine, *matrix);
            spent_.send = lap_.seconds();
            if (done) done = steps(engine, *matrix);
            if (done) done = right_of_square(engine, *matrix);
        } catch (const std::exception& e) {
            done = {VKGEMM_ERROR_OUT_OF_MEMORY, VK_SUCCESS, e.what()};
        }
        lap_.seconds();
        if (columns_ > 0) exchange_left(engine);
        spent_.exchanges = lap_.seconds();
        if (matrix && !matrix->finish()) static_cast<void>(matrix.release());  // the device may still use it
        return done;
    }

    bool is_untouched() const { return columns_ == 0; }
    bool is_complete() const { return columns_ == p_.n; }
    /// LAPACK's: the first column, from 1, whose pivot is 0; or 0.
    int64_t info() const { return info_; }
    const LuSpent& spent() const { return spent_; }

    /// By the CPU LAPACK and BLAS.
    void rest() {
        const int64_t c = std::min(columns_, p_.order()), right = p_.n - columns_;
        if (c > 0) {
            for (int64_t j = columns_; j < p_.n; ++j) exchange_rows(p_.at(0, j), pivots_of(0, c));
            next_.solve({.kind = Kind::trsm,
                         .left = true,
                         .unit = true,
                         .m = c,
                         .n = right,
                         .alpha = T{1},
                         .a = p_.a,
                         .lda = p_.lda,
                         .c = p_.at(0, columns_),
                         .ldc = p_.lda});
        }
        if (c == p_.order()) return;
        if (c > 0)
            next_.multiply({.m = p_.m - c,
                            .n = right,
                            .k = c,
                            .alpha = T{-1},
                            .a = p_.at(c, 0),
                            .lda = p_.lda,
                            .b = p_.at(0, c),
                            .ldb = p_.lda,
                            .beta = T{1},
                            .c = p_.at(c, c),
                            .ldc = p_.lda});
        note_info(c, next_.factor(p_.m - c, right, p_.at(c, c), p_.lda, pivots_ + c));
        const auto pivots = pivots_of(c, p_.order() - c);
        for (int64_t j = 0; j < c; ++j) exchange_rows(p_.at(c, j), pivots);
        count_from_first_row(c, p_.order() - c);
        columns_ = p_.n;
    }

   private:
    std::span<const Int> pivots_of(int64_t first, int64_t count) const {
        return {pivots_ + first, static_cast<size_t>(count)};
    }
    /// LAPACK's pivots count from the first row of the whole matrix.
    void count_from_first_row(int64_t first, int64_t count) {
        for (int64_t i = first; i < first + count; ++i) pivots_[i] = static_cast<Int>(pivots_[i] + first);
    }
    void note_info(int64_t first, int64_t info) {
        if (info > 0 && info_ == 0) info_ = first + info;
    }
    int64_t columns_from(int64_t first) const { return std::min(panel_, p_.n - first); }

    Status send(Engine& engine, ResidentMatrix& matrix) {
        // The first panel is last and stays where it is.
        for (int64_t first = (p_.n - 1) / panel_ * panel_; first >= 0; first -= panel_) {
            if (Status s = matrix.wait(first); !s) return s;
            T* const to = in_panel(matrix, first);
            const auto columns = [&](int64_t begin, int64_t end) {
                copy_columns(p_.at(0, first + begin), p_.lda, p_.m, end - begin, to + begin * matrix.panel_ld(),
                             matrix.panel_ld());
            };
            share(engine, columns_from(first), p_.m, columns);
            if (first == 0) break;
            if (Status s = matrix.send(first, columns_from(first)); !s) return s;
        }
        return {};
    }

    Status steps(Engine& engine, ResidentMatrix& matrix) {
        for (int64_t first = 0; first < p_.order(); first += panel_) {
            const int64_t width = std::min(panel_, p_.order() - first), row = first + width,
                          next = std::min(panel_, p_.order() - row), ld = matrix.panel_ld();
            T* const panel = in_panel(matrix, first) + first;
            const int64_t info = next_.factor(p_.m - first, width, panel, ld, pivots_ + first);
            spent_.panels += lap_.seconds();
            Status sent;
            if (row < p_.n) {
                invert(panel, ld, width, reinterpret_cast<T*>(matrix.inverse()));
                sent = matrix.step(first, width, next, RowMoves(pivots_of(first, width)));
            }
            spent_.submit += lap_.seconds();
            if (Status s = sent ? matrix.wait(first) : sent; !s) return s;
            take(engine, matrix, first, row);
            count_from_first_row(first, width);
            note_info(first, info);
            spent_.columns += lap_.seconds();
            if (Status s = matrix.wait_next(); !s) return s;
            spent_.wait += lap_.seconds();
        }
        return {};
    }

    /// The columns that are wholly in U.
    Status right_of_square(Engine& engine, ResidentMatrix& matrix) {
        while (columns_ < p_.n) {
            const int64_t first = columns_, end = first / panel_ * panel_ + columns_from(first / panel_ * panel_);
            if (Status s = matrix.fetch(first, end); !s) return s;
            if (Status s = matrix.wait(first); !s) return s;
            take(engine, matrix, first, end);
        }
        return {};
    }

    /// The inverse of the unit lower triangle.
    void invert(const T* panel, int64_t ld, int64_t width, T* inverse) const {
        for (int64_t j = 0; j < width; ++j)
            for (int64_t i = 0; i < width; ++i) inverse[i + j * panel_] = T(i == j);
        next_.solve({.kind = Kind::trsm,
                     .left = true,
                     .unit = true,
                     .m = width,
                     .n = width,
                     .alpha = T{1},
                     .a = panel,
                     .lda = ld,
                     .c = inverse,
                     .ldc = panel_});
    }

    void take(Engine& engine, const ResidentMatrix& matrix, int64_t first, int64_t end) {
        const T* const from = in_panel(matrix, first);
        const auto columns = [&](int64_t begin, int64_t until) {
            copy_columns(from + begin * matrix.panel_ld(), matrix.panel_ld(), p_.m, until - begin,
                         p_.at(0, first + begin), p_.lda);
        };
        share(engine, end - first, p_.m, columns);
        columns_ = end;
    }

    /// In each panel, of the panels right of it. All of them at once, while a column is in the cache.
    void exchange_left(Engine& engine) {
        const int64_t done = std::min(columns_, p_.order());
        const auto columns = [&](int64_t begin, int64_t end) {
            for (int64_t c = begin; c < end; ++c) {
                T* const column = p_.at(0, c);
                for (int64_t i = c / panel_ * panel_ + panel_; i < done; ++i)
                    std::swap(column[i], column[pivots_[i] - 1]);
            }
        };
        share(engine, done, p_.m, columns);
    }

    static T* in_panel(const ResidentMatrix& matrix, int64_t first) {
        return reinterpret_cast<T*>(matrix.panel(first));
    }
    /// By reference, so that nothing is allocated and nothing thrown while A changes.
    template <class Work>
    static void share(Engine& engine, int64_t count, int64_t elements_each, const Work& work) {
        engine.workers().run(count, static_cast<uint64_t>(count * elements_each) * sizeof(T), std::ref(work));
    }

    const Lu<T> p_;
    Int* const pivots_;
    const Next& next_;
    int64_t panel_ = 0, columns_ = 0;  // columns that are done, from the left
    int64_t info_ = 0;
    Lap lap_;
    LuSpent spent_{};
};

}  // namespace vkgemm::blas
