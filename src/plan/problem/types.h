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
    uint32_t bytes;
    int exact_bits;
    bool is_float;
    Type default_accumulator, default_result;
};

inline constexpr TypeInfo type_info[] = {
#define VKGEMM_ROW(id, number, text, bytes, digits, is_float, accumulator, result) \
    {id, #text, bytes, digits, is_float, accumulator, result},
    VKGEMM_TYPE_ROWS(VKGEMM_ROW)
#undef VKGEMM_ROW
};

/// `t` is not VKGEMM_TYPE_DEFAULT.
constexpr const TypeInfo& info(Type t) { return type_info[static_cast<size_t>(t) - 1]; }

constexpr bool types_in_order() {
    for (const TypeInfo& t : type_info)
        if (&info(t.type) != &t) return false;
    return true;
}
static_assert(types_in_order(), "the rows of VKGEMM_TYPE_ROWS must count from 1, because info() indexes them");

}  // namespace vkgemm::plan
