// SPDX-License-Identifier: MIT
// The operands of a check: which numbers they are, and how they lie in memory.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include "measure/exact_elements.h"
#include "measure/exact_numbers.h"
#include "measure/in_parallel.h"
#include "measure/numbers.h"
#include "measure/verify.h"
#include "vkgemm/rounding.hpp"

namespace vkgemm::tool {
namespace {

constexpr uint64_t elements_of_thread = uint64_t{1} << 18;  // elements that are worth a thread

/// Writes `value(matrix, row, col)`, one of 256 numbers, to every element. Square by square, for the matrix may lie
/// across the way in which its values do.
template <class Value>
void put_all(const MatrixInfo& m, std::byte* bytes, const Value& value) {
    constexpr uint64_t side = 16;
    std::array<std::array<std::byte, 8>, 256> encoded{};
    for (int number = -128; number < 128; ++number)
        encode(m.type, number, encoded[static_cast<uint8_t>(number)].data());
    const uint64_t bands = divUp(m.rows, side), of_band = side * std::max<uint64_t>(m.cols, 1);
    in_parallel(m.matrices() * bands, elements_of_thread / of_band + 1, [&](uint64_t first, uint64_t end) {
        by_width(m.bytes, [&](auto word) {
            for (uint64_t i = first; i < end; ++i) {
                const uint64_t matrix = i / bands, row0 = i % bands * side;
                for (uint64_t col0 = 0; col0 < m.cols; col0 += side)
                    for (uint64_t row = row0; row < std::min(row0 + side, m.rows); ++row)
                        for (uint64_t col = col0; col < std::min(col0 + side, m.cols); ++col)
                            std::memcpy(
                                bytes + (m.begin_of(matrix) + row * m.row_step + col * m.col_step) * sizeof word,
                                encoded[static_cast<uint8_t>(value(matrix, row, col))].data(), sizeof word);
            }
        });
    });
}

/// The same for an operand in blocks, which lie along k: along the rows of A and the columns of B. The values lie by
/// rows, so they are read row by row, also where the blocks go down the columns. Encoding is slow: about 1 us a block.
template <class Value>
void put_blocks(const MatrixInfo& m, std::byte* bytes, const Value& value) {
    const bool along_rows = m.col_step == 1;
    const uint64_t down = along_rows ? 1 : m.block, across = along_rows ? m.block : 1;  // elements of a block
    const uint64_t of_matrix = m.rows / down;                                           // rows of blocks
    const uint64_t least = 1000 / std::max<uint64_t>(m.cols / across, 1) + 1;
    in_parallel(m.matrices() * of_matrix, least, [&](uint64_t first, uint64_t end) {
        std::vector<double> values(m.block);
        for (uint64_t i = first; i < end; ++i) {
            const uint64_t matrix = i / of_matrix, row = i % of_matrix * down;
            for (uint64_t col = 0; col < m.cols; col += across) {
                for (uint64_t j = 0; j < m.block; ++j)
                    values[j] = value(matrix, row + (along_rows ? 0 : j), col + (along_rows ? j : 0));
                encodeBlock(m.type, values,
                            bytes + m.bytes_of(m.begin_of(matrix) + row * m.row_step + col * m.col_step));
            }
        }
    });
}

/// The largest magnitude that steps make of a sum of this one.
int64_t reach(const Problem& p, int64_t sum) {
    auto x = static_cast<double>(sum);
    for (const Step& s : p.epilogue) {
        if (vector_width(s, VKGEMM_SLOT_SCALE) == 1) x *= 2;
        x = std::max({x, std::fabs(applied(s, -x)), std::fabs(applied(s, x))});
    }
    return static_cast<int64_t>(std::min(x, 0x1p62));
}

}  // namespace

ExactCase::ExactCase(const Case& c, uint64_t seed)
    : p_(c.problem), r_(resolve(c.problem)), alpha_(multiplies(c) ? 2 : 0), beta_(reads_c(c) && r_.c.span ? -1 : 0) {
    plain_ = p_.epilogue.count == 0;
    const auto exactly = [](Type type) {
        return int64_t{1} << std::min(static_cast<int>(type_info(type).exactBits), 30);
    };
    const int64_t terms = exactly(r_.accumulate);
    const int64_t most = std::min(terms, exactly(r_.d.type));
    // Scales double and bias twice at most. Other steps may make more of a sum, such as leaky ReLU with a large slope.
    ExactLimits limits = {.terms = terms, .sum = most / (plain_ ? 1 : 4)};
    while (limits.sum > ExactLimits::others && reach(p_, limits.sum) > most) limits.sum /= 2;
    ExactNumbers numbers = exact_numbers(r_, p_.k, limits, seed);
    a_ = std::move(numbers.a);
    b_ = std::move(numbers.b);
}

int ExactCase::c(uint64_t batch, uint64_t row, uint64_t col) const {
    return whole(r_.c.type, 3, mixed(3, r_.c.matrix_of(batch), row, col));
}
int ExactCase::residual(uint64_t batch, uint64_t row, uint64_t col) const {
    return whole(r_.residual, 3, mixed(4, batch, row, col));
}

int ExactCase::sign_of_b2() const { return r_.b.type == u8 ? 1 : -1; }

int ExactCase::vector_value(VkgemmSlot slot, uint64_t index) const {
    static constexpr int scales[] = {1, 2, -1};
    const uint64_t bits = mixed(5, static_cast<uint64_t>(slot), index, 0);
    if (slot != VKGEMM_SLOT_SCALE) return whole(r_.bias, 3, bits);
    const bool bounds =
        std::ranges::any_of(p_.epilogue, [](const Step& s) { return vector_width(s, VKGEMM_SLOT_SCALE) == 2; });
    return !bounds ? scales[bits % 3] : index % 2 ? static_cast<int>(3 + bits % 9) : static_cast<int>(bits % 9) - 6;
}

std::vector<std::byte> ExactCase::bytes(VkgemmSlot slot) const {
    const MatrixInfo* m = slot == VKGEMM_SLOT_A                             ? &r_.a
                          : slot == VKGEMM_SLOT_B || slot == VKGEMM_SLOT_B2 ? &r_.b
                          : slot == VKGEMM_SLOT_C                           ? &r_.c
                                                                            : &r_.d;
    const MatrixInfo of_residual = r_.residual_matrix();
    if (slot == VKGEMM_SLOT_RESIDUAL) m = &of_residual;
    std::vector<std::byte> bytes;
    if (slot == VKGEMM_SLOT_BIAS || slot == VKGEMM_SLOT_SCALE || slot == VKGEMM_SLOT_BIAS2) {
        const Type type = slot == VKGEMM_SLOT_SCALE ? r_.scale : r_.bias;
        const uint64_t count = 2 * std::max(p_.m, p_.n), each = type_info(type).bytes;
        bytes.resize(count * each);
        for (uint64_t i = 0; i < count; ++i) encode(type, vector_value(slot, i), &bytes[i * each]);
        return bytes;
    }
    bytes.assign(m->span_bytes(), static_cast<std::byte>(poison(m->type)));
    if (slot == VKGEMM_SLOT_D && p_.cSource != VKGEMM_C_IS_D) return bytes;
    const auto put = [&](auto value) {
        if (m->block == 1)
            put_all(*m, bytes.data(), value);
        else
            put_blocks(*m, bytes.data(), value);
    };
    using At = uint64_t;
    if (slot == VKGEMM_SLOT_A)
        put([this](At matrix, At row, At col) { return a_[(matrix * r_.a.rows + row) * r_.a.cols + col]; });
    else if (slot == VKGEMM_SLOT_B)
        put([this](At matrix, At row, At col) { return b_[(matrix * r_.b.rows + row) * r_.b.cols + col]; });
    else if (slot == VKGEMM_SLOT_B2)
        put([this](At matrix, At row, At col) {
            return sign_of_b2() * b_[(matrix * r_.b.rows + row) * r_.b.cols + col];
        });
    else if (slot == VKGEMM_SLOT_RESIDUAL)
        put([this](At matrix, At row, At col) { return residual(matrix, row, col); });
    else
        put([this](At matrix, At row, At col) { return whole(r_.c.type, 3, mixed(3, matrix, row, col)); });
    return bytes;
}

}  // namespace vkgemm::tool
