// SPDX-License-Identifier: MIT
#include "blas/resident.h"

#include <algorithm>

namespace vkgemm::blas {
namespace {

constexpr int64_t rounded_up(int64_t x, int64_t step) { return (x + step - 1) / step * step; }

/// A leading dimension of panels that serves all matrices of about this size, so that they share plans. Not a power of
/// two, for the sake of the CPU's cache.
int64_t ld_of_panels(int64_t m) { return rounded_up(m, 2048) + 8; }

constexpr int64_t most_of_strip = int64_t{1} << 31;  // bytes
/// A multiple of the panel, so that none is in two strips, within the most where a panel is.
int64_t columns_of_strips(const ResidentShape& s, uint64_t element) {
    const int64_t fit = most_of_strip / (std::max<int64_t>(1, s.m) * static_cast<int64_t>(element));
    const int64_t wanted = std::min({4 * s.tile, rounded_up(s.n, 256), fit});
    return std::max(s.panel, wanted / s.panel * s.panel);
}

}  // namespace

ResidentMatrix::ResidentMatrix(Engine& engine, const ResidentShape& shape)
    : engine_(engine),
      shape_(shape),
      element_(shape.type == f64 ? 8 : 4),
      strip_(columns_of_strips(shape, element_)),
      panel_ld_(ld_of_panels(shape.m)),
      queue_(engine.device()) {}

/// D -= A B, where A is a panel and B a block of rows: D in its strip, or the next panel.
Problem ResidentMatrix::problem(bool to_panel) const {
    const auto size = [](int64_t x) { return static_cast<uint64_t>(x); };
    Problem p{.m = size(panel_ld_), .n = size(to_panel ? shape_.panel : strip_), .k = size(shape_.panel)};
    p.a = {shape_.type, columnMajor, size(panel_ld_), 0};
    p.b = {shape_.type, rowMajor, size(strip_), 0};
    p.d = {shape_.type, rowMajor, size(strip_), 0};
    p.cSource = VKGEMM_C_IS_D;
    if (to_panel) p.c = p.d, p.d = p.a, p.cSource = VKGEMM_C_SEPARATE;
    if (shape_.type == f32) p.accuracy = shape_.accuracy;
    p.upTo = VKGEMM_UP_TO_M | VKGEMM_UP_TO_N;
    return p;
}

Status ResidentMatrix::open() {
    if (shape_.m > most_of_strip / static_cast<int64_t>(element_) / strip_)
        return {VKGEMM_ERROR_UNSUPPORTED, VK_SUCCESS, "a panel is above 2 GiB"};
    if (Status s = queue_.load(); !s) return s;
    const int64_t count = rounded_up(shape_.n, strip_) / strip_;
    const auto bytes = [&](int64_t elements) { return static_cast<uint64_t>(elements) * element_; };
    const uint64_t panel = bytes(panel_ld_ * shape_.panel), rows = bytes(count * strip_ * shape_.panel);
    const uint64_t all = bytes(shape_.m * strip_ * count) + 2 * panel + rows;
    for (const bool to_panel : {false, true}) {
        const auto plan = engine_.plan(problem(to_panel));
        if (!plan) return plan.status();
        (to_panel ? to_panel_ : update_) = *plan;
    }
    const uint64_t space = std::max(update_->info().requiredBytes[VKGEMM_SLOT_WORKSPACE],
                                    to_panel_->info().requiredBytes[VKGEMM_SLOT_WORKSPACE]);
    if (all + space > shape_.limit || all + space > engine_.device().memoryLeft())
        return {VKGEMM_ERROR_UNSUPPORTED, VK_SUCCESS, "the matrix does not fit the device"};
    const auto make = [&](host::Buffer& buffer, uint64_t size, host::Memory where) -> Status {
        if (size == 0) return {};
        auto made = engine_.device().createBuffer(size, where);
        if (!made) return made.status();
        buffer = *std::move(made);
        return {};
    };
    strips_.resize(static_cast<size_t>(count));
    for (size_t s = 0; s < strips_.size(); ++s) {
        strips_[s].first = static_cast<int64_t>(s) * strip_;
        strips_[s].count = std::min(strip_, shape_.n - strips_[s].first);
        if (Status done = make(strips_[s].buffer, bytes(shape_.m * strip_), host::Memory::device); !done) return done;
    }
    for (host::Buffer* b : {&factors_[0], &factors_[1]})
        if (Status s = make(*b, panel, host::Memory::device); !s) return s;
    if (Status s = make(upper_, rows, host::Memory::device); !s) return s;
    if (Status s = make(workspace_, space, host::Memory::device); !s) return s;
    if (Status s = make(panel_, panel, host::Memory::host); !s) return s;
    return make(rows_, rows, host::Memory::host);
}

Status ResidentMatrix::send_rows(const Strip& strip, const PackRows& pack, int64_t begin, int64_t end,
                                 uint64_t staging) {
    pack(rows_.mapped().data() + staging, strip_, strip.first, strip.count, begin, end);
    const VkBufferCopy region{staging, place(begin, 0), static_cast<uint64_t>((end - begin) * strip_) * element_};
    return queue_
        .submit([&](VkCommandBuffer commands) -> Status {
            return queue_.copy(commands, rows_.handle(), strip.buffer.handle(), {&region, 1}), Status{};
        })
        .status();
}

Status ResidentMatrix::send(const PackRows& pack) {
    // Half of the memory is packed into while the other half is copied.
    const int64_t at_once = std::max<int64_t>(1, static_cast<int64_t>(strips_.size()) * shape_.panel / 2);
    uint64_t number = 0;
    for (const Strip& strip : strips_)
        for (int64_t begin = 0; begin < shape_.m; begin += at_once) {
            if (number > 1)
                if (Status s = queue_.wait(number - 1); !s) return s;
            const uint64_t staging = number % 2 * place(at_once, 0);
            if (Status s = send_rows(strip, pack, begin, std::min(shape_.m, begin + at_once), staging); !s) return s;
            ++number;
        }
    return queue_.finish();  // what is packed into is used for other things
}

std::vector<ResidentMatrix::Part> ResidentMatrix::parts(int64_t from_column) const {
    std::vector<Part> all;
    for (size_t s = 0; s < strips_.size(); ++s) {
        const int64_t first = std::max(from_column, strips_[s].first), end = strips_[s].first + strips_[s].count;
        if (first < end)
            all.push_back(
                {rows_.mapped().data() + rows_at(s) + place(0, first - strips_[s].first), strip_, first, end - first});
    }
    return all;
}

Status ResidentMatrix::exchange(int64_t first, int64_t width, const RowMoves& moves) {
    const int64_t rows = shape_.m - first - width;
    const auto submitted = queue_.submit([&](VkCommandBuffer commands) -> Status {
        std::vector<VkBufferCopy> regions;
        for (int64_t c = 0; c < width && rows > 0; ++c) {  // L below the rows of this step, from row 0 of factors_
            const uint64_t column = static_cast<uint64_t>(c * panel_ld_) * element_;
            regions.push_back(
                {column + static_cast<uint64_t>(width) * element_, column, static_cast<uint64_t>(rows) * element_});
        }
        queue_.copy(commands, panel_.handle(), factors_[turn_].handle(), regions);
        for (size_t s = 0; s < strips_.size(); ++s) {
            const Strip& strip = strips_[s];
            const int64_t begin = std::max(first + width, strip.first) - strip.first;
            if (begin >= strip.count) continue;
            const uint64_t bytes = static_cast<uint64_t>(strip.count - begin) * element_;
            regions.clear();
            for (size_t i = 0; i < moves.up.size(); ++i)
                regions.push_back(
                    {place(first + moves.up[i], begin), rows_at(s) + place(static_cast<int64_t>(i), begin), bytes});
            queue_.copy(commands, strip.buffer.handle(), rows_.handle(), regions);
        }
        queue_.barrier(commands);
        for (const Strip& strip : strips_) {
            const int64_t begin = std::max(first + width, strip.first) - strip.first;
            if (begin >= strip.count) continue;
            const uint64_t bytes = static_cast<uint64_t>(strip.count - begin) * element_;
            regions.clear();
            for (const auto& [from, to] : moves.down)
                regions.push_back({place(first + from, begin), place(first + to, begin), bytes});
            queue_.copy(commands, strip.buffer.handle(), strip.buffer.handle(), regions);
        }
        return {};
    });
    if (submitted) rows_number_ = *submitted;
    return submitted.status();
}

/// Of `count` columns of a strip, from `row` on.
Run ResidentMatrix::run_of(size_t strip, int64_t row, int64_t column, int64_t count) const {
    return {.a = factors_[turn_].operand(),
            .b = upper_.operand(rows_at(strip) + place(0, column)),
            .d = strips_[strip].buffer.operand(place(row, column)),
            .workspace = workspace_.operand(),
            .alpha = -1,
            .beta = 1,
            .sizes = Sizes{.m = static_cast<uint64_t>(shape_.m - row),
                           .n = static_cast<uint64_t>(count),
                           .k = static_cast<uint64_t>(shape_.panel)}};
}

Status ResidentMatrix::multiply(VkCommandBuffer commands, const Plan& plan, const Run& run) const {
    queue_.barrier(commands);  // the workspace is that of the last one
    return plan.record(commands, run);
}

Status ResidentMatrix::update(int64_t first, int64_t width, int64_t next) {
    // A narrow panel is the last one. Its columns are multiplied twice, so that operands begin on 16 bytes.
    const int64_t row = first + width, begin = next < shape_.panel ? row : row + next;
    const size_t from = static_cast<size_t>(row / strip_);  // the strip of the next panel
    const auto panel = queue_.submit([&](VkCommandBuffer commands) -> Status {
        const VkBufferCopy all{rows_at(from), rows_at(from), rows_.size() - rows_at(from)};
        queue_.copy(commands, rows_.handle(), upper_.handle(), {&all, 1});
        Run run = run_of(from, row, row - strips_[from].first, next);
        run.c = run.d, run.d = factors_[1 - turn_].operand();
        if (Status s = multiply(commands, *to_panel_, run); !s) return s;
        queue_.barrier(commands);
        std::vector<VkBufferCopy> columns;
        for (int64_t c = 0; c < next; ++c) {
            const uint64_t at = static_cast<uint64_t>(c * panel_ld_) * element_;
            columns.push_back({at, at, static_cast<uint64_t>(shape_.m - row) * element_});
        }
        return queue_.copy(commands, factors_[1 - turn_].handle(), panel_.handle(), columns), Status{};
    });
    if (!panel) return panel.status();
    panel_number_ = *panel;
    const auto others = queue_.submit([&](VkCommandBuffer commands) -> Status {
        for (size_t s = from; s < strips_.size(); ++s) {
            const int64_t column = std::max(begin, strips_[s].first) - strips_[s].first;
            if (column >= strips_[s].count) continue;
            if (Status done = multiply(commands, *update_, run_of(s, row, column, strips_[s].count - column)); !done)
                return done;
        }
        return {};
    });
    turn_ = 1 - turn_;
    return others.status();
}

}  // namespace vkgemm::blas
