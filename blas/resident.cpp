// SPDX-License-Identifier: MIT
#include "blas/resident.h"

#include <algorithm>

#include "vkgemm/rounding.hpp"

namespace vkgemm::blas {
namespace {

/// Operands begin on 16 bytes and more.
constexpr int64_t aligned_down(int64_t column) { return column / 4 * 4; }

/// A leading dimension of panels that serves all matrices of about this size, so that they share plans. Not a power of
/// two, for the sake of the CPU's cache.
int64_t ld_of_panels(int64_t m) { return roundUp(m, 2048) + 8; }

constexpr int64_t most_block_bytes = int64_t{1} << 31;  // bytes
/// A multiple of the panel, so that none is in two blocks, within the most where a panel is.
int64_t columns_of_blocks(const ResidentShape& s, uint64_t element) {
    const int64_t fit = most_block_bytes / (std::max<int64_t>(1, s.m) * static_cast<int64_t>(element));
    const int64_t wanted = std::min({4 * s.tile, roundUp(s.n, 256), fit});
    return std::max(s.panel, wanted / s.panel * s.panel);
}

}  // namespace

ResidentMatrix::ResidentMatrix(Engine& engine, const ResidentShape& shape)
    : engine_(engine),
      shape_(shape),
      element_(shape.type == f64 ? 8 : 4),
      block_columns_(columns_of_blocks(shape, element_)),
      panel_ld_(ld_of_panels(shape.m)),
      queue_(engine.device()) {}

/// D = A B, or C + A B: panel x rows. Where only the order changes, it is C alone.
Problem ResidentMatrix::problem(Operation operation, const Extent& extent) const {
    const auto size = [](int64_t x) { return static_cast<uint64_t>(x); };
    Problem p{.m = size(extent.rows), .n = size(extent.columns), .k = size(extent.depth)};
    const auto of_panel = [&](int64_t ld) {
        return Matrix{.type = shape_.type, .layout = columnMajor, .ld = size(ld)};
    };
    const Matrix of_block{.type = shape_.type, .layout = rowMajor, .ld = size(block_columns_)};
    p.a = of_panel(operation == Operation::solve ? shape_.panel : panel_ld_);
    p.b = of_block;
    p.d = operation == Operation::to_panel || operation == Operation::fetch ? of_panel(panel_ld_) : of_block;
    if (operation == Operation::to_panel || operation == Operation::fetch) {
        p.c = of_block;
        p.cSource = VKGEMM_C_SEPARATE;
    }
    if (operation == Operation::send) {
        p.c = of_panel(panel_ld_);
        p.cSource = VKGEMM_C_SEPARATE;
    }
    if (operation == Operation::update) p.cSource = VKGEMM_C_IS_D;
    p.accuracy = accuracies_[static_cast<size_t>(operation)];
    return p;
}

/// The largest of each way choose the kernels, so that few are compiled.
Result<uint64_t> ResidentMatrix::choose_kernels() {
    const int64_t panel = shape_.panel, m = shape_.m;
    const Extent extents[] = {{m - panel, std::min(block_columns_, shape_.n - panel), panel},
                              {m - panel, panel, panel},
                              {panel, std::min(block_columns_, shape_.n - panel), panel},
                              {m, panel, 1},
                              {m, panel, 1}};
    uint64_t space = 0;
    for (size_t i = 0; i < largest_.size(); ++i) {
        const auto operation = static_cast<Operation>(i);
        accuracies_[i] = engine_.accuracy_for(problem(operation, extents[i]));
        const auto plan = engine_.plan(problem(operation, extents[i]));
        if (!plan) return plan.status();
        largest_[i] = *plan;
        space = std::max(space, (*plan)->info().requiredBytes[VKGEMM_SLOT_WORKSPACE]);
    }
    return space;
}

Status ResidentMatrix::open() {
    if (shape_.m > most_block_bytes / static_cast<int64_t>(element_) / block_columns_)
        return {VKGEMM_ERROR_UNSUPPORTED, VK_SUCCESS, "a panel is above 2 GiB"};
    if (Status s = queue_.load(); !s) return s;
    const int64_t count = roundUp(shape_.n, block_columns_) / block_columns_;
    const auto bytes = [&](int64_t elements) { return static_cast<uint64_t>(elements) * element_; };
    const uint64_t panel = bytes(panel_ld_ * shape_.panel), rows = bytes(count * block_columns_ * shape_.panel),
                   square = bytes(shape_.panel * shape_.panel);
    const auto space = choose_kernels();
    if (!space) return space.status();
    const uint64_t all = bytes(shape_.m * block_columns_ * count) + 2 * panel + rows + square + *space;
    if (all > shape_.limit || all > engine_.device().memoryLeft())
        return {VKGEMM_ERROR_UNSUPPORTED, VK_SUCCESS, "the matrix does not fit the device"};
    const auto make = [&](host::Buffer& buffer, uint64_t size, host::Memory where) -> Status {
        if (size == 0) return {};
        auto made = engine_.device().createBuffer(size, where);
        if (!made) return made.status();
        buffer = *std::move(made);
        return {};
    };
    blocks_.resize(static_cast<size_t>(count));
    for (size_t s = 0; s < blocks_.size(); ++s) {
        blocks_[s].first = static_cast<int64_t>(s) * block_columns_;
        blocks_[s].count = std::min(block_columns_, shape_.n - blocks_[s].first);
        if (Status done = make(blocks_[s].buffer, bytes(shape_.m * block_columns_), host::Memory::device); !done)
            return done;
    }
    for (size_t turn = 0; turn < 2; ++turn) {
        if (Status s = make(factors_[turn], panel, host::Memory::device); !s) return s;
        if (Status s = make(panels_[turn], panel, host::Memory::host); !s) return s;
    }
    if (Status s = make(gathered_, rows, host::Memory::device); !s) return s;
    if (Status s = make(workspace_, *space, host::Memory::device); !s) return s;
    if (Status s = make(solver_, square, host::Memory::device); !s) return s;
    return make(inverse_, square, host::Memory::host);
}

std::vector<ResidentMatrix::Part> ResidentMatrix::parts(int64_t begin, int64_t end) const {
    std::vector<Part> all;
    for (size_t s = 0; s < blocks_.size(); ++s) {
        const ColumnBlock& block = blocks_[s];
        const int64_t from = std::max(begin, block.first), until = std::min(end, block.first + block.count);
        if (from < until) all.push_back({s, from - block.first, until - block.first});
    }
    return all;
}

Operand ResidentMatrix::in_block(const Part& p, int64_t row, int64_t rows) const {
    const uint64_t bytes = place(rows - 1, 0) + static_cast<uint64_t>(p.columns()) * element_;
    return blocks_[p.block].buffer.operand(place(row, p.begin), bytes);
}

Status ResidentMatrix::multiply(VkCommandBuffer commands, Operation operation, Run run, const Extent& extent) {
    const Problem sized = problem(operation, extent);
    const VkgemmPlanInfo kernel = largest_[static_cast<size_t>(operation)]->info();
    const Context& context = engine_.device().context();
    auto plan =
        context.createPlan(sized, {.kernel = kernel.kernel, .tile = kernel.tile, .workspaceLimit = workspace_.size()});
    if (!plan) plan = context.createPlan(sized, {.workspaceLimit = workspace_.size()});  // too small for that one
    if (!plan) return plan.status();
    plans_.push_back(*std::move(plan));
    engine_.count(sized.accuracy);
    queue_.barrier(commands);  // the workspace is that of the last one
    run.workspace = workspace_.operand();
    return plans_.back().record(commands, run);
}

Status ResidentMatrix::arrange(VkCommandBuffer commands, Operation operation, const Part& part, int64_t end,
                               size_t turn) {
    Run run{.a = factors_[1 - turn].operand(), .b = gathered_.operand(), .alpha = 0, .beta = 1};
    run.c = in_block(part, 0, end);
    run.d = factors_[turn].operand();
    if (operation == Operation::send) std::swap(run.c, run.d);
    return multiply(commands, operation, run, {end, part.columns(), 1});
}

void ResidentMatrix::copy_panel(VkCommandBuffer commands, const host::Buffer& from, const host::Buffer& to, int64_t row,
                                int64_t end, int64_t columns) const {
    std::vector<VkBufferCopy> regions;
    for (int64_t c = 0; c < columns && row < end; ++c)
        regions.push_back({in_panel(row, c), in_panel(row, c), static_cast<uint64_t>(end - row) * element_});
    queue_.copy(commands, from.handle(), to.handle(), regions);
}

Status ResidentMatrix::send(int64_t first, int64_t count) {
    const size_t turn = turn_of(first);
    const auto sent = queue_.submit([&](VkCommandBuffer commands) -> Status {
        copy_panel(commands, panels_[turn], factors_[turn], 0, shape_.m, count);
        return arrange(commands, Operation::send, parts(first, first + count).front(), shape_.m, turn);
    });
    if (sent) numbers_[turn] = *sent;
    return sent.status();
}

Status ResidentMatrix::fetch(int64_t first, int64_t end) {
    const int64_t begin = aligned_down(first);
    const size_t turn = turn_of(first);
    const auto fetched = queue_.submit([&](VkCommandBuffer commands) -> Status {
        const Part part = parts(begin, end).front();
        if (Status s = arrange(commands, Operation::fetch, part, shape_.m, turn); !s) return s;
        queue_.barrier(commands);
        copy_panel(commands, factors_[turn], panels_[turn], 0, shape_.m, part.columns());
        return Status{};
    });
    if (fetched) numbers_[turn] = *fetched;
    return fetched.status();
}

/// The rows that the pivots select come up, and those that they displace go down. Then U = L^-1 x the first ones.
Status ResidentMatrix::exchange_and_solve(VkCommandBuffer commands, const Step& step, const std::vector<Part>& parts) {
    std::vector<VkBufferCopy> regions;
    const auto bytes = [&](const Part& p) { return static_cast<uint64_t>(p.columns()) * element_; };
    for (const Part& p : parts) {
        const VkBuffer block = blocks_[p.block].buffer.handle();
        regions.clear();
        for (size_t i = 0; i < step.moves.up.size(); ++i)
            regions.push_back({place(step.first + step.moves.up[i], p.begin),
                               gathered_at(p) + place(static_cast<int64_t>(i), 0), bytes(p)});
        queue_.copy(commands, block, gathered_.handle(), regions);
    }
    queue_.barrier(commands);
    for (const Part& p : parts) {
        const VkBuffer block = blocks_[p.block].buffer.handle();
        regions.clear();
        for (const auto& [from, to] : step.moves.down)
            regions.push_back({place(step.first + from, p.begin), place(step.first + to, p.begin), bytes(p)});
        queue_.copy(commands, block, block, regions);
    }
    for (const Part& p : parts) {
        const Run run{
            .a = solver_.operand(), .b = gathered_.operand(gathered_at(p)), .d = in_block(p, step.first, step.width)};
        if (Status s = multiply(commands, Operation::solve, run, {step.width, p.columns(), step.width}); !s) return s;
    }
    return {};
}

/// Rows below the step's -= panel x U, in place or into the next panel.
Status ResidentMatrix::subtract(VkCommandBuffer commands, Operation operation, const Step& step, const Part& part) {
    const int64_t row = step.first + step.width, rows = shape_.m - row;
    const size_t turn = turn_of(step.first);
    Run run{.a = factors_[turn].operand(in_panel(row, 0)),
            .b = in_block(part, step.first, step.width),
            .alpha = -1,
            .beta = 1};
    run.d = in_block(part, row, rows);
    if (operation == Operation::to_panel) {
        run.c = run.d;
        run.d = factors_[1 - turn].operand(in_panel(row, 0));
    }
    return multiply(commands, operation, run, {rows, part.columns(), step.width});
}

Status ResidentMatrix::submit_panel(const Step& step, int64_t next, int64_t solved) {
    const int64_t row = step.first + step.width;
    const size_t turn = turn_of(step.first);
    const auto panel = queue_.submit([&](VkCommandBuffer commands) -> Status {
        const VkBufferCopy square{0, 0, inverse_.size()};
        queue_.copy(commands, inverse_.handle(), solver_.handle(), {&square, 1});
        copy_panel(commands, panels_[turn], factors_[turn], row, shape_.m, step.width);
        if (next == 0) return {};
        queue_.barrier(commands);
        if (Status s = exchange_and_solve(commands, step, parts(row, solved)); !s) return s;
        if (Status s = subtract(commands, Operation::to_panel, step, parts(row, row + next).front()); !s) return s;
        queue_.barrier(commands);
        copy_panel(commands, factors_[1 - turn], panels_[1 - turn], row, shape_.m, next);
        return Status{};
    });
    if (panel) panel_number_ = *panel;
    return panel.status();
}

Status ResidentMatrix::step(int64_t first, int64_t width, int64_t next, const RowMoves& moves) {
    const Step step{first, width, moves};
    const int64_t row = first + width, n = shape_.n;
    // Of the next panel, and up to three more.
    const int64_t solved = next == 0 ? aligned_down(row) : std::min(n, row + roundUp(next, 4));
    if (Status s = submit_panel(step, next, solved); !s) return s;
    if (next > 0) {
        const size_t turn = turn_of(row);
        const auto above = queue_.submit([&](VkCommandBuffer commands) -> Status {
            const Part part = parts(row, row + next).front();
            if (Status s = arrange(commands, Operation::fetch, part, row, turn); !s) return s;
            queue_.barrier(commands);
            copy_panel(commands, factors_[turn], panels_[turn], 0, row, next);
            return Status{};
        });
        if (!above) return above.status();
        numbers_[turn] = *above;
    }
    if (row + next >= n) return {};
    return queue_
        .submit([&](VkCommandBuffer commands) -> Status {
            if (const auto others = parts(solved, n); !others.empty())
                if (Status s = exchange_and_solve(commands, step, others); !s) return s;
            if (row == shape_.m) return {};
            for (const Part& part : parts(aligned_down(row + next), n))
                if (Status s = subtract(commands, Operation::update, step, part); !s) return s;
            return {};
        })
        .status();
}

}  // namespace vkgemm::blas
