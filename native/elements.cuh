// SPDX-License-Identifier: MIT
// Elements in global memory whose type is known at run time: f32, f16 or bf16.
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
constexpr uint32_t type_of = __is_same(D, f16)    ? VKGEMM_TYPE_F16
                             : __is_same(D, bf16) ? VKGEMM_TYPE_BF16
                                                  : VKGEMM_TYPE_F32;
DEVICE uint64_t address_of(abi::uvec2 words) { return uint64_t{words.y} << 32 | words.x; }

DEVICE float f32_of(uint32_t bits, uint32_t type) {
    return type == VKGEMM_TYPE_F16 ? __half2float(__ushort_as_half(bits)) : __uint_as_float(bits << 16);
}

/// 0 unless it `exists`. Predicates, because ptxas makes a branch of every `if` round an asm statement.
template <bool is_f32>
DEVICE float element_at(uint64_t address, uint32_t type, bool exists) {
    uint32_t bits = 0;
    if constexpr (is_f32)
        asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %2, 0;\n@p ld.global.b32 %0, [%1];\n}"
                     : "+r"(bits)
                     : "l"(address), "r"(uint32_t{exists})
                     : "memory");
    else
        asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %2, 0;\n@p ld.global.u16 %0, [%1];\n}"
                     : "+r"(bits)
                     : "l"(address), "r"(uint32_t{exists})
                     : "memory");
    return is_f32 ? __uint_as_float(bits) : f32_of(bits, type);
}
template <class D>
DEVICE void set_element_at(uint64_t address, float x, bool exists) {
    if constexpr (sizeof(D) == 4)
        asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %2, 0;\n@p st.global.f32 [%0], %1;\n}" ::"l"(address), "f"(x),
                     "r"(uint32_t{exists})
                     : "memory");
    else
        asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %2, 0;\n@p st.global.u16 [%0], %1;\n}" ::"l"(address),
                     "r"(pair_of<D>(x, x)), "r"(uint32_t{exists})
                     : "memory");
}

}  // namespace vkgemm::native
