// SPDX-License-Identifier: MIT
// A matrix on the device while it is factored: the trailing part stays there from step to step; a panel of columns and
// a block of rows travel.
//
// It is stored by rows, so that a row that changes its place is one copy, in strips of columns, so that each strip is
// within reach of a shader. Panels are stored by columns, as LAPACK wants them.
#pragma once
#include <vector>

#include "blas/engine.h"
#include "blas/in_order.h"
#include "blas/lu.h"

namespace vkgemm::blas {

struct ResidentShape {
    Type type = f64;
    int64_t m = 0, n = 0;
    int64_t panel = 256;  // columns of a panel; a multiple of 4
    int64_t tile = 2048;  // columns of a strip are four times as many
    VkgemmAccuracy accuracy = VKGEMM_ACCURACY_DEFAULT;
    uint64_t limit = UINT64_MAX;  // bytes of the device that it may take
};

/// One thread at a time may use it. After a failure only ~ResidentMatrix may follow, and only if finish() succeeds.
class ResidentMatrix {
   public:
    ResidentMatrix(Engine& engine, const ResidentShape& shape);

    /// Makes what is needed. UNSUPPORTED if the matrix is larger than it may be.
    Status open();
    /// Sends all of it. `pack` writes rows [begin, end) of columns [first, first + count), by rows of `ld` elements.
    using PackRows =
        std::function<void(std::byte* to, int64_t ld, int64_t first, int64_t count, int64_t begin, int64_t end)>;
    Status send(const PackRows& pack);

    /// The panel of the step, in memory of the host: rows from the step's first row on, by columns.
    std::byte* panel() const { return panel_.mapped().data(); }
    int64_t panel_ld() const { return panel_ld_; }

    /// The rows that a step's pivots select, in memory of the host, by rows: columns [first, first + count).
    struct Part {
        std::byte* rows;
        int64_t ld, first, count;
    };
    std::vector<Part> parts(int64_t from_column) const;

    /// A step, whose panel has `width` columns from `first` on, and is factored. The rows of its columns further right
    /// come to parts(); rows of the device change their places. wait_rows() ends it.
    Status exchange(int64_t first, int64_t width, const RowMoves& moves);
    Status wait_rows() { return queue_.wait(rows_number_); }
    /// Trailing part -= panel x parts(), which the host has changed. Columns of the next panel come to panel() first.
    /// wait_panel() is for them. `next` is their count, above 0.
    Status update(int64_t first, int64_t width, int64_t next);
    Status wait_panel() { return queue_.wait(panel_number_); }
    Status finish() { return queue_.finish(); }

   private:
    struct Strip {
        int64_t first = 0, count = 0;  // columns
        host::Buffer buffer{};         // m rows of strip_ elements
    };
    uint64_t place(int64_t row, int64_t column) const {
        return static_cast<uint64_t>(row * strip_ + column) * element_;
    }
    uint64_t rows_at(size_t strip) const { return strip * static_cast<uint64_t>(shape_.panel * strip_) * element_; }
    Problem problem(bool to_panel) const;
    Status multiply(VkCommandBuffer commands, const Plan& plan, const Run& run) const;
    Run run_of(size_t strip, int64_t row, int64_t column, int64_t count) const;
    Status send_rows(const Strip& strip, const PackRows& pack, int64_t begin, int64_t end, uint64_t staging);

    Engine& engine_;
    const ResidentShape shape_;
    const uint64_t element_;
    const int64_t strip_, panel_ld_;
    InOrder queue_;
    std::vector<Strip> strips_;
    host::Buffer panel_, rows_;        // of the host
    host::Buffer factors_[2], upper_;  // of the device: panels by turns, and rows_
    host::Buffer workspace_;
    const Plan *update_ = nullptr, *to_panel_ = nullptr;
    size_t turn_ = 0;  // factors_[turn_] has the factored panel, the other one gets the next
    uint64_t rows_number_ = 0, panel_number_ = 0;
};

}  // namespace vkgemm::blas
