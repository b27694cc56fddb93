// SPDX-License-Identifier: MIT
// What the harness and its kernels share.
#pragma once
#include <cstdint>

namespace vkgemm::native {

enum Filling : uint32_t {
    whole_numbers,
    powers_of_two,
    fractions,
    positive,
    of_many_sizes,
    with_infinities,
    ends_infinite
};

/// A product and how to finish it, for the naive kernel. Types are VKGEMM_TYPE_*, strides in elements.
struct Case {
    uint32_t m, n, k, batch;
    uint64_t a, b, c, d, bias, scale, residual;
    uint64_t lda, ldb, ldc, ldd, stride_a, stride_b, stride_c, stride_d;
    uint32_t a_turned, b_turned, c_turned, use_c;
    uint32_t type_a, type_b, type_c, type_d, type_bias, type_scale, type_residual;
    float alpha, beta, low, high, slope;
    uint32_t steps[4];
    uint32_t is_partial, slices, k_chunk;
    float tolerance;  // 0: exact
    float error;  // above 0: the sum of f64 is compared with, and the tolerance is so many units of 2^-24 of the sizes
};

struct Finding {
    uint32_t elements, wrong, touched;
    uint32_t row, col, z;
    float got, expected;
    uint32_t error;  // the largest, bits of an f32, in units of 2^-24 of the sizes
};

}  // namespace vkgemm::native
