// SPDX-License-Identifier: MIT
// The public types under the names that src/plan uses, and what is known of each element type.
#pragma once
#include <cstddef>
#include <iterator>
#include <string_view>

#include "vkgemm/problem.hpp"

namespace vkgemm::plan {

using vkgemm::broadcast;
using vkgemm::columnMajor;
using vkgemm::Layout;
using vkgemm::Matrix;
using vkgemm::Problem;
using vkgemm::rowMajor;
using vkgemm::Type;
using EpilogueStep = vkgemm::Step;
#define VKGEMM_ROW(id, number, text, ...) using vkgemm::text;
VKGEMM_TYPE_ROWS(VKGEMM_ROW)
#undef VKGEMM_ROW

/// A row of VKGEMM_TYPE_ROWS. Whole numbers up to 2^exact_bits are exact in the type, and so are sums that stay below.
struct TypeInfo {
    Type type;
    std::string_view name;
    uint32_t bytes;  // of a block
    uint32_t block;  // elements in a block; 1 for a plain type
    int exact_bits;
    bool is_float;
    Type default_accumulator, default_result;

    constexpr bool is_plain() const { return block == 1; }
    /// What an operand's offset counts in: elements of a plain type, words of a block format.
    constexpr uint32_t unit_bytes() const { return is_plain() ? bytes : 4; }
    /// Of so many elements, which are whole blocks.
    constexpr uint64_t bytes_of(uint64_t elements) const { return elements / block * bytes; }
};

inline constexpr TypeInfo type_info[] = {
#define VKGEMM_ROW(id, number, text, bytes, elements, digits, is_float, accumulator, result) \
    {id, #text, bytes, elements, digits, is_float, accumulator, result},
    VKGEMM_TYPE_ROWS(VKGEMM_ROW)
#undef VKGEMM_ROW
};

/// Do the numbers of the rows count from 1? info() indexes the rows by them.
template <class Row, size_t count, class Number>
constexpr bool count_from_1(const Row (&rows)[count], Number Row::*number) {
    for (size_t i = 0; i < count; ++i)
        if (static_cast<size_t>(rows[i].*number) != i + 1) return false;
    return true;
}
static_assert(count_from_1(type_info, &TypeInfo::type));

/// `t` is not VKGEMM_TYPE_DEFAULT.
constexpr const TypeInfo& info(Type t) { return type_info[static_cast<size_t>(t) - 1]; }

/// No module has them for A and B alone: they are decoded, as blocks are.
constexpr bool is_fp8(Type t) { return t == e4m3 || t == e5m2; }

/// Of the types of A and B, the one whose defaults the accumulator and D have: A's, but B's if only B's is a float.
constexpr const TypeInfo& leading_type(Type a, Type b) { return info(info(a).is_float ? a : b); }

}  // namespace vkgemm::plan
