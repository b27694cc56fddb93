// SPDX-License-Identifier: MIT
// A matrix on the device while it is factored: it stays there from step to step; panels of columns travel.
//
// It is stored by rows, so that a row that changes its place is one copy, in blocks of columns, so that each block is
// within reach of a shader. Panels are stored by columns, as LAPACK wants them; the device changes the order.
#pragma once
#include <array>
#include <vector>

#include "blas/engine.h"
#include "blas/in_order.h"
#include "blas/lu.h"

namespace vkgemm::blas {

struct ResidentShape {
    Type type = f64;
    int64_t m = 0, n = 0;
    int64_t panel = 128;          // columns of a panel; a multiple of 4
    int64_t tile = 2048;          // columns of a block are four times as many
    uint64_t limit = UINT64_MAX;  // bytes of the device that it may take
};

/// One thread at a time may use it. After a failure only ~ResidentMatrix may follow, and only if finish() succeeds.
class ResidentMatrix {
   public:
    ResidentMatrix(Engine& engine, const ResidentShape& shape);

    /// Makes what is needed. UNSUPPORTED if the matrix is larger than it may be.
    Status open();

    /// Columns travel through two panels in memory of the host, by turns: where those from `first` on are, which is
    /// within one panel. All rows, by columns.
    std::byte* panel(int64_t first) const {
        return panels_[turn_of(first)].mapped().data() + in_panel(0, first % shape_.panel);
    }
    int64_t panel_ld() const { return panel_ld_; }
    /// Until nothing that was asked for uses that panel any more.
    Status wait(int64_t first) { return queue_.wait(numbers_[turn_of(first)]); }
    /// All columns of a panel, from panel() to the device.
    Status send(int64_t first, int64_t count);
    /// Columns [first, end), which are in one panel, from the device to panel().
    Status fetch(int64_t first, int64_t end);

    /// L^-1 of a step, by columns of shape.panel elements. The host writes it before step().
    std::byte* inverse() const { return inverse_.mapped().data(); }
    /// A step. The panel has `width` columns from `first` on and is factored, in panel(). Rows change their places, the
    /// first ones become a part of U, and the trailing part -= panel x these; at first in the columns of the next
    /// panel, of which there are `next`. They come to panel(): the rows below the step's until wait_next(), the others
    /// until wait().
    Status step(int64_t first, int64_t width, int64_t next, const RowMoves& moves);
    Status wait_next() { return queue_.wait(panel_number_); }
    Status finish() { return queue_.finish(); }

   private:
    struct ColumnBlock {
        int64_t first = 0, count = 0;  // columns
        host::Buffer buffer{};         // m rows of block_columns_ elements
    };
    /// Columns [begin, end) of a block.
    struct Part {
        size_t block;
        int64_t begin, end;
        int64_t columns() const { return end - begin; }
    };
    struct Step {
        int64_t first, width;
        const RowMoves& moves;
    };
    struct Extent {
        int64_t rows, columns, depth;
    };
    enum class Operation {
        update,    // a block -= panel x rows
        to_panel,  // the same of the next panel's columns, which go into a panel
        solve,     // U = L^-1 x rows
        send,      // from a panel to a block, as they are
        fetch      // the other way
    };

    size_t turn_of(int64_t column) const { return static_cast<size_t>(column / shape_.panel % 2); }
    uint64_t place(int64_t row, int64_t column) const {
        return static_cast<uint64_t>(row * block_columns_ + column) * element_;
    }
    uint64_t in_panel(int64_t row, int64_t column) const {
        return static_cast<uint64_t>(column * panel_ld_ + row) * element_;
    }
    uint64_t gathered_at(const Part& p) const { return p.block * place(shape_.panel, 0) + place(0, p.begin); }
    /// Columns [begin, end) of the matrix.
    std::vector<Part> parts(int64_t begin, int64_t end) const;
    /// So many rows of a part from `row` on.
    Operand in_block(const Part& p, int64_t row, int64_t rows) const;
    Problem problem(Operation operation, const Extent& extent) const;
    Result<uint64_t> choose_kernels();
    Status multiply(VkCommandBuffer commands, Operation operation, Run run, const Extent& extent);
    /// The rows of a part that are above `end`, from the block to factors_[turn] or back.
    Status arrange(VkCommandBuffer commands, Operation operation, const Part& part, int64_t end, size_t turn);
    void copy_panel(VkCommandBuffer commands, const host::Buffer& from, const host::Buffer& to, int64_t row,
                    int64_t end, int64_t columns) const;
    Status exchange_and_solve(VkCommandBuffer commands, const Step& step, const std::vector<Part>& parts);
    Status subtract(VkCommandBuffer commands, Operation operation, const Step& step, const Part& part);
    Status submit_panel(const Step& step, int64_t next, int64_t solved);

    Engine& engine_;
    const ResidentShape shape_;
    const uint64_t element_;
    const int64_t block_columns_, panel_ld_;
    InOrder queue_;
    std::vector<ColumnBlock> blocks_;
    std::array<host::Buffer, 2> panels_, factors_;  // of the host, and of the device
    host::Buffer inverse_, solver_;                 // of the host, and of the device
    host::Buffer gathered_;                         // rows that became pivots
    host::Buffer workspace_;
    std::array<const Plan*, 5> largest_{};  // by Operation
    std::array<VkgemmAccuracy, 5> accuracies_{};
    std::vector<Plan> plans_;            // of submissions
    uint64_t panel_number_ = 0;          // of a submission
    std::array<uint64_t, 2> numbers_{};  // of the last ones that use panels_
};

}  // namespace vkgemm::blas
