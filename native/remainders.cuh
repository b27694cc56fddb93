// SPDX-License-Identifier: MIT
// What join_int8 needs of sums of products of int8 (shaders/common/remainders.glsl): remainders by a modulus, a byte
// each.
#pragma once
#include "native/store.cuh"
#include "shaders/common/moduli.h"

namespace vkgemm::native {

/// A modulus p with its reciprocal, and the largest multiple of p up to 2^31 (shaders/common/modulus.glsl).
struct Modulus {
    uint32_t p, reciprocal, bias;

    DEVICE uint32_t remainder_of(i32 sum) const {
        const uint32_t x = static_cast<uint32_t>(sum) + bias;
        return x - (__umulhi(x, reciprocal) >> 7) * p;
    }
};
DEVICE Modulus modulus_of(uint32_t t) {
    Modulus out{};
    switch (t) {
#define X(t, p, reciprocal, of_20, of_40, of_60)              \
    case t:                                                   \
        out = {p, reciprocal, 0x80000000u - 0x80000000u % p}; \
        break;
        VKGEMM_MODULI(X)
#undef X
    }
    return out;
}

/// Stores the remainders of the sums of a warp: 16 rows from `row` on, 2 count columns from `col` on, in the workspace:
/// [slice][product][row][column], rows of ldd bytes, a multiple of 16.
template <int count>
DEVICE void store_remainders(const NativeArgs& x, const Staging& staging, const i32 (&sums)[count], uint32_t row,
                             uint32_t col, uint32_t z, uint32_t batch) {
    constexpr int of_box = sums_of_box<i8>;
    const Modulus modulus = modulus_of(batch);
    const uint64_t begin = (uint64_t{x.args.d.y} << 32 | x.args.d.x) + (uint64_t{z} * x.args.m + row) * x.args.ldd;
#pragma unroll
    for (int first = 0; first < count; first += of_box) {
        const uint32_t c = col + 2 * first;
        store_bytes(x, staging.address, staging.lane, reinterpret_cast<const i32(&)[of_box]>(sums[first]), row, c,
                    begin + c, x.args.ldd, [&](i32 sum) { return modulus.remainder_of(sum); });
    }
}

}  // namespace vkgemm::native
