// SPDX-License-Identifier: MIT
// Elements in global memory. The type of those of two bytes, f16 or bf16, is known at run time only.
#pragma once
#include "native/store.cuh"
#include "vkgemm/tables.h"

namespace vkgemm::native {

enum ElementType : uint32_t {
#define VKGEMM_ROW(name, number, ...) name = number,
    VKGEMM_TYPE_ROWS(VKGEMM_ROW)
#undef VKGEMM_ROW
};
template <class D>
constexpr uint32_t type_of = std::is_same_v<D, f16>    ? VKGEMM_TYPE_F16
                             : std::is_same_v<D, bf16> ? VKGEMM_TYPE_BF16
                             : std::is_same_v<D, i32>  ? VKGEMM_TYPE_I32
                             : std::is_same_v<D, f64>  ? VKGEMM_TYPE_F64
                             : std::is_same_v<D, i8>   ? VKGEMM_TYPE_I8
                                                       : VKGEMM_TYPE_F32;
/// What is computed with on the way to D.
template <class D>
using ValueOf = std::conditional_t<std::is_same_v<D, i32> || std::is_same_v<D, f64>, D, f32>;
template <class V>
DEVICE V value_of(uint32_t bits, uint32_t high = 0) {
    if constexpr (std::is_same_v<V, f64>)
        return __hiloint2double(static_cast<int>(high), static_cast<int>(bits));
    else if constexpr (std::is_same_v<V, i32>)
        return static_cast<i32>(bits);
    else
        return __uint_as_float(bits);
}

DEVICE uint64_t address_of(abi::uvec2 words) { return uint64_t{words.y} << 32 | words.x; }

DEVICE float f32_of(uint32_t bits, uint32_t type) {
    return type == VKGEMM_TYPE_F16 ? __half2float(__ushort_as_half(bits)) : __uint_as_float(bits << 16);
}

/// Elements of a type of 1 byte (i8) or 2, or those of V: 0 unless it `exists`. Predicates, because ptxas makes a
/// branch of every `if` round an asm statement.
template <class V, uint32_t bytes>
DEVICE V element_at(uint64_t address, uint32_t type, bool exists) {
    if constexpr (std::is_same_v<V, f64>) {
        f64 x = 0;
        asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %2, 0;\n@p ld.global.f64 %0, [%1];\n}"
                     : "+d"(x)
                     : "l"(address), "r"(uint32_t{exists})
                     : "memory");
        return x;
    }
    uint32_t bits = 0;
    if constexpr (bytes == 1)
        asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %2, 0;\n@p ld.global.s8 %0, [%1];\n}"
                     : "+r"(bits)
                     : "l"(address), "r"(uint32_t{exists})
                     : "memory");
    else if constexpr (bytes == 4)
        asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %2, 0;\n@p ld.global.b32 %0, [%1];\n}"
                     : "+r"(bits)
                     : "l"(address), "r"(uint32_t{exists})
                     : "memory");
    else
        asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %2, 0;\n@p ld.global.u16 %0, [%1];\n}"
                     : "+r"(bits)
                     : "l"(address), "r"(uint32_t{exists})
                     : "memory");
    if constexpr (bytes == 1)
        return static_cast<V>(static_cast<i32>(bits));
    else if constexpr (bytes == 4)
        return value_of<V>(bits);
    else
        return static_cast<V>(f32_of(bits, type));
}
template <class D>
DEVICE void set_element_at(uint64_t address, ValueOf<D> x, bool exists) {
    if constexpr (std::is_same_v<D, f64>)
        asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %2, 0;\n@p st.global.f64 [%0], %1;\n}" ::"l"(address), "d"(x),
                     "r"(uint32_t{exists})
                     : "memory");
    else if constexpr (sizeof(D) == 1)
        asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %2, 0;\n@p st.global.u8 [%0], %1;\n}" ::"l"(address),
                     "r"(byte_of(x)), "r"(uint32_t{exists})
                     : "memory");
    else if constexpr (sizeof(D) == 4)
        asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %2, 0;\n@p st.global.b32 [%0], %1;\n}" ::"l"(address),
                     "r"(bits_of(x)), "r"(uint32_t{exists})
                     : "memory");
    else
        asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %2, 0;\n@p st.global.u16 [%0], %1;\n}" ::"l"(address),
                     "r"(pair_of<D>(x, x)), "r"(uint32_t{exists})
                     : "memory");
}

}  // namespace vkgemm::native
