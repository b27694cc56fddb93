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

DEVICE float element(uint64_t begin, uint32_t type, uint64_t i) {
    uint32_t bits;
    if (type == VKGEMM_TYPE_F32) {
        asm volatile("ld.global.b32 %0, [%1];" : "=r"(bits) : "l"(begin + 4 * i) : "memory");
        return __uint_as_float(bits);
    }
    asm volatile("{.reg .b16 h; ld.global.b16 h, [%1]; cvt.u32.u16 %0, h;}"
                 : "=r"(bits)
                 : "l"(begin + 2 * i)
                 : "memory");
    return f32_of(bits, type);
}
DEVICE void set_element(uint64_t begin, uint32_t type, uint64_t i, float x) {
    if (type == VKGEMM_TYPE_F32) {
        asm volatile("st.global.f32 [%0], %1;" ::"l"(begin + 4 * i), "f"(x) : "memory");
    } else {
        const uint32_t pair = type == VKGEMM_TYPE_F16 ? pair_of<f16>(x, x) : pair_of<bf16>(x, x);
        asm volatile("{.reg .b16 h; cvt.u16.u32 h, %1; st.global.b16 [%0], h;}" ::"l"(begin + 2 * i), "r"(pair)
                     : "memory");
    }
}
DEVICE uint4 load_16_bytes(uint64_t p) {
    uint4 v;
    asm volatile("ld.global.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(p)
                 : "memory");
    return v;
}
DEVICE void store_16_bytes(uint64_t p, uint32_t x, uint32_t y, uint32_t z, uint32_t w) {
    asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(p), "r"(x), "r"(y), "r"(z), "r"(w) : "memory");
}

/// Where eight neighbours begin. They are read and written 16 bytes at a time where all exist and the address allows it,
/// else one by one, by way of 32 bytes of shared memory, so that this rare case is a loop of few instructions.
struct Eight {
    uint64_t begin;
    uint32_t type;
    uint64_t first, stride;  // elements
    uint32_t count;          // that exist
    uint32_t slot;           // shared memory that no other thread uses meanwhile

    DEVICE uint64_t address() const { return begin + first * (type == VKGEMM_TYPE_F32 ? 4 : 2); }
    DEVICE bool is_wide() const { return count == 8 && stride == 1 && address() % 16 == 0; }
};

DEVICE void load(float (&v)[8], const Eight& from) {
    const uint64_t p = from.address();
    if (!from.is_wide()) {
#pragma unroll 1
        for (uint32_t i = 0; i < from.count; ++i)
            store_word(from.slot + 4 * i, element(from.begin, from.type, from.first + i * from.stride));
        load_four(v, 0, from.slot);
        load_four(v, 4, from.slot + 16);
    } else if (from.type == VKGEMM_TYPE_F32) {
        const uint4 low = load_16_bytes(p), high = load_16_bytes(p + 16);
        v[0] = __uint_as_float(low.x), v[1] = __uint_as_float(low.y);
        v[2] = __uint_as_float(low.z), v[3] = __uint_as_float(low.w);
        v[4] = __uint_as_float(high.x), v[5] = __uint_as_float(high.y);
        v[6] = __uint_as_float(high.z), v[7] = __uint_as_float(high.w);
    } else {
        const uint4 all = load_16_bytes(p);
        const uint32_t words[] = {all.x, all.y, all.z, all.w};
#pragma unroll
        for (int i = 0; i < 8; ++i) v[i] = f32_of(words[i / 2] >> 16 * (i % 2) & 0xffff, from.type);
    }
}

template <class T>
DEVICE void store_wide(const float (&v)[8], uint64_t p) {
    if constexpr (sizeof(T) == 4) {
#pragma unroll
        for (int i = 0; i < 8; i += 4)
            store_16_bytes(p + 4 * i, __float_as_uint(v[i]), __float_as_uint(v[i + 1]), __float_as_uint(v[i + 2]),
                           __float_as_uint(v[i + 3]));
    } else {
        store_16_bytes(p, pair_of<T>(v[0], v[1]), pair_of<T>(v[2], v[3]), pair_of<T>(v[4], v[5]),
                       pair_of<T>(v[6], v[7]));
    }
}

/// To elements of type D, or of f32.
template <class D>
DEVICE void store(const float (&v)[8], const Eight& to) {
    if (!to.is_wide()) {
        store_four(to.slot, v, 0);
        store_four(to.slot + 16, v, 4);
#pragma unroll 1
        for (uint32_t i = 0; i < to.count; ++i)
            set_element(to.begin, to.type, to.first + i, load_word(to.slot + 4 * i));
    } else if (to.type == type_of<D>) {
        store_wide<D>(v, to.address());
    } else {
        store_wide<f32>(v, to.address());
    }
}

}  // namespace vkgemm::native
