// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace vkgemm::plan {

/// Element types, in the order of VkgemmType without its DEFAULT.
enum class Type : uint8_t { f32, f16, bf16, f64, i32, i8, u8 };

/// One row per type. Integers up to 2^exact_bits are exact in it (so are sums that stay below).
struct TypeInfo {
    Type type;
    std::string_view name;
    uint32_t bytes;
    int exact_bits;
    bool is_float;
    Type default_accumulator, default_result;
};

inline constexpr TypeInfo type_info[] = {
    {Type::f32, "f32", 4, 24, true, Type::f32, Type::f32},   {Type::f16, "f16", 2, 11, true, Type::f32, Type::f16},
    {Type::bf16, "bf16", 2, 8, true, Type::f32, Type::bf16}, {Type::f64, "f64", 8, 53, true, Type::f64, Type::f64},
    {Type::i32, "i32", 4, 31, false, Type::i32, Type::i32},  {Type::i8, "i8", 1, 7, false, Type::i32, Type::i32},
    {Type::u8, "u8", 1, 8, false, Type::i32, Type::i32},
};

constexpr const TypeInfo& info(Type t) { return type_info[static_cast<size_t>(t)]; }

constexpr bool types_in_order() {
    for (size_t i = 0; i < std::size(type_info); ++i)
        if (static_cast<size_t>(type_info[i].type) != i) return false;
    return true;
}
static_assert(types_in_order(), "info() indexes type_info by the enum");

}  // namespace vkgemm::plan
