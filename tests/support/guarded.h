// SPDX-License-Identifier: MIT
// Operands inside larger buffers. Everything that is not an element is poisoned: zones at both ends, padding between
// rows, gaps between batches. If a kernel reads there, D holds a NaN; if it writes there, a comparison of bytes finds
// it.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "plan/problem/problem.h"
#include "support/numbers.h"
#include "support/reference.h"
#include "vkgemm/formats.hpp"

namespace vkgemm::test {

class Guarded {
   public:
    /// `shift`: by how many elements, or words of a block format, the operand's offset exceeds a multiple of 256 bytes.
    Guarded(plan::Type type, const plan::Matrix& completed, uint64_t rows, uint64_t cols, uint64_t batch,
            uint64_t shift = 0, uint64_t outer = 1, uint64_t outer_stride = 0)
        : type_(type),
          matrix_(completed),
          rows_(rows),
          cols_(cols),
          batch_(matrix_.batchStride == 0 ? 1 : batch),
          outer_(outer_stride == 0 ? 1 : outer),
          outer_stride_(outer_stride) {
        front_ = front_bytes + shift * info().unit_bytes();
        const bool empty = rows_ == 0 || cols_ == 0 || batch_ == 0;
        span_ = empty ? 0 : (outer_ - 1) * outer_stride_ + position(matrix_, batch_ - 1, rows_ - 1, cols_ - 1) + 1;
        const uint64_t tail = empty ? 0 : tail_bytes;
        bytes_.resize(front_ + info().bytes_of(span_) + tail, std::byte{0xff});  // NaN in a block format
        if (!info().is_plain()) return;
        poison(type_, bytes_.data());
        for (size_t done = info().bytes; done < bytes_.size(); done *= 2)
            std::memcpy(&bytes_[done], bytes_.data(), std::min(done, bytes_.size() - done));
    }

    /// An operand of a completed problem, with all its matrices.
    explicit Guarded(const plan::Operand& x, uint64_t shift = 0)
        : Guarded(x.matrix->type, *x.matrix, x.rows, x.cols, x.batch, shift, x.outer, x.outer_stride) {}

    /// A vector of `count` elements, as bias and scale are.
    static Guarded vector(plan::Type type, uint64_t count, uint64_t shift = 0) {
        return Guarded(type, {.type = type, .ld = count}, 1, count, 1, shift);
    }

    /// Calls `value()` for every element of the operand, always in the same order, and writes what it returns.
    template <class Value>
    void fill(Value&& value) {
        change([&](double, uint64_t, uint64_t) { return value(); });
    }
    /// Replaces every element x by `value(x, row, column)`, or by what the block format makes of it.
    template <class Value>
    void change(Value&& value) {
        const bool rows_first = matrix_.layout == plan::rowMajor;
        std::array<double, mostBlockElements> block{};
        const std::span<double> values(block.data(), info().block);
        for_each([&](uint64_t at, uint64_t row, uint64_t col) {
            if ((rows_first ? col : row) % info().block) return;
            decodeBlock(type_, &bytes_[at], values);
            for (uint64_t i = 0; i < info().block; ++i)
                values[i] = value(values[i], row + (rows_first ? 0 : i), col + (rows_first ? i : 0));
            encodeBlock(type_, values, &bytes_[at]);
        });
    }

    plan::Type type() const { return type_; }
    const std::vector<std::byte>& bytes() const { return bytes_; }
    uint64_t offset() const { return front_; }
    uint64_t span_bytes() const { return info().bytes_of(span_); }

    /// The operand's elements, as Operands (reference.h) holds them.
    std::vector<double> numbers() const { return numbers_of(bytes_); }
    std::vector<double> numbers_of(const std::vector<std::byte>& bytes) const {
        std::vector<double> out(span_);
        for (uint64_t i = 0; i < span_; i += info().block)
            decodeBlock(type_, &bytes[front_ + info().bytes_of(i)], std::span(out).subspan(i, info().block));
        return out;
    }

    /// The first byte outside the operand's elements that has changed; nullopt if none has.
    std::optional<size_t> trespass(const std::vector<std::byte>& after) const {
        if (after.size() != bytes_.size()) return 0;
        std::vector<std::byte> expected = bytes_;
        for_each([&](uint64_t at, uint64_t, uint64_t) {
            for (uint64_t byte = at; byte < at + info().bytes; ++byte) expected[byte] = after[byte];
        });
        return first_difference(expected, after);
    }
    /// The first byte that has changed, for an operand that is only read.
    std::optional<size_t> written(std::span<const std::byte> after) const { return first_difference(bytes_, after); }

   private:
    static constexpr uint64_t front_bytes = 1024;  // a multiple of 256, so that only `shift` makes it unaligned
    static constexpr uint64_t tail_bytes = 65536;  // holds some rows of a tile that reaches beyond the last row

    const plan::TypeInfo& info() const { return plan::info(type_); }

    /// visit(byte, row, column) for every element; the byte is its own, or its block's.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (uint64_t y = 0; y < outer_; ++y)
            for (uint64_t z = 0; z < batch_; ++z)
                for (uint64_t r = 0; r < rows_; ++r)
                    for (uint64_t c = 0; c < cols_; ++c)
                        visit(front_ + info().bytes_of(y * outer_stride_ + position(matrix_, z, r, c)), r, c);
    }

    static std::optional<size_t> first_difference(std::span<const std::byte> x, std::span<const std::byte> y) {
        if (x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size()) == 0) return std::nullopt;
        for (size_t i = 0; i < x.size() && i < y.size(); ++i)
            if (x[i] != y[i]) return i;
        return x.size() == y.size() ? std::nullopt : std::optional<size_t>(0);
    }

    plan::Type type_;
    plan::Matrix matrix_;
    uint64_t rows_, cols_, batch_, outer_, outer_stride_, front_ = 0, span_ = 0;
    std::vector<std::byte> bytes_;
};

}  // namespace vkgemm::test
