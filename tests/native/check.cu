// SPDX-License-Identifier: MIT
// What the harness runs on the GPU beside the kernels: operands, a naive product to compare with, and a look at what is
// round D.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "native/finish.cuh"
#include "tests/native/check.h"

namespace vkgemm::native {
namespace {

__device__ float value_at(uint64_t begin, uint32_t type, uint64_t i) {
    if (type == VKGEMM_TYPE_F32) return reinterpret_cast<const float*>(begin)[i];
    if (type == VKGEMM_TYPE_F64) return static_cast<float>(reinterpret_cast<const double*>(begin)[i]);
    if (type == VKGEMM_TYPE_I32) return static_cast<float>(reinterpret_cast<const int*>(begin)[i]);
    if (type == VKGEMM_TYPE_I8) return reinterpret_cast<const int8_t*>(begin)[i];
    if (type == VKGEMM_TYPE_E4M3) return float(reinterpret_cast<const __nv_fp8_e4m3*>(begin)[i]);
    if (type == VKGEMM_TYPE_E5M2) return float(reinterpret_cast<const __nv_fp8_e5m2*>(begin)[i]);
    if (type == VKGEMM_TYPE_F16) return __half2float(reinterpret_cast<const __half*>(begin)[i]);
    return __bfloat162float(reinterpret_cast<const __nv_bfloat16*>(begin)[i]);
}

__device__ uint32_t bits_of(float x, uint32_t type) {
    if (type == VKGEMM_TYPE_F32 || type == VKGEMM_TYPE_F64) return __float_as_uint(x);
    if (type == VKGEMM_TYPE_I32 || type == VKGEMM_TYPE_I8) return static_cast<uint32_t>(static_cast<int>(x));
    if (type == VKGEMM_TYPE_E4M3) return __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E4M3);
    if (type == VKGEMM_TYPE_E5M2) return __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E5M2);
    if (type == VKGEMM_TYPE_F16) return __half_as_ushort(__float2half_rn(x));
    return __bfloat16_as_ushort(__float2bfloat16_rn(x));
}

__device__ uint32_t mixed(uint32_t x) {
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

__device__ float after(const Case& c, uint32_t step, uint32_t row, uint32_t col, uint64_t i, float x) {
    switch (step) {
        case VKGEMM_STEP_BIAS_ROW:
            return x + value_at(c.bias, c.type_bias, row);
        case VKGEMM_STEP_BIAS_COL:
            return x + value_at(c.bias, c.type_bias, col);
        case VKGEMM_STEP_SCALE_ROW:
            return x * value_at(c.scale, c.type_scale, row);
        case VKGEMM_STEP_SCALE_COL:
            return x * value_at(c.scale, c.type_scale, col);
        case VKGEMM_STEP_SCALE_ALL:
            return x * value_at(c.scale, c.type_scale, 0);
        case VKGEMM_STEP_RESIDUAL:
            return x + value_at(c.residual, c.type_residual, i);
        case VKGEMM_STEP_RELU:
            return isnan(x) ? x : fmaxf(x, 0);
        case VKGEMM_STEP_GELU:
            return x / 2 * (1 + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
        case VKGEMM_STEP_SILU:
            return x / (1 + expf(-x));
        case VKGEMM_STEP_CLAMP:
            return isnan(x) ? x : fminf(fmaxf(x, c.low), c.high);
        case VKGEMM_STEP_LEAKY_RELU:
            return x > 0 ? x : c.slope * x;
        default:
            return x;
    }
}

// NaN or an infinity, of a type of A and B; e4m3 has NaN alone.
__device__ uint32_t special_bits(uint32_t which, uint32_t type) {
    const uint32_t sign = which & 1;
    const bool is_nan = which % 3 == 0;
    if (type == VKGEMM_TYPE_E4M3) return 0x7f | sign << 7;
    if (type == VKGEMM_TYPE_E5M2) return (is_nan ? 0x7e : 0x7c) | sign << 7;
    if (type == VKGEMM_TYPE_F16) return (is_nan ? 0x7e00 : 0x7c00) | sign << 15;
    if (type == VKGEMM_TYPE_BF16) return (is_nan ? 0x7fc0 : 0x7f80) | sign << 15;
    return (is_nan ? 0x7fc00000 : 0x7f800000) | sign << 31;
}

}  // namespace

/// Small whole numbers, powers of two, or fractions between -1 and 1; nothing is written between the rows.
extern "C" __global__ void fill(uint64_t to, uint32_t type, uint32_t lines, uint32_t length, uint64_t pitch,
                                uint64_t stride, uint32_t count, uint32_t kind, uint32_t seed) {
    const uint64_t all = uint64_t{lines} * length * count, step = uint64_t{gridDim.x} * blockDim.x;
    for (uint64_t e = blockIdx.x * uint64_t{blockDim.x} + threadIdx.x; e < all; e += step) {
        const uint64_t i = e / length / lines * stride + e / length % lines * pitch + e % length;
        const uint32_t h = mixed(static_cast<uint32_t>(e) ^ mixed(seed));
        const float x =
            kind == whole_numbers || kind == ends_infinite ? static_cast<int>(h % 5) - 2
            : kind == powers_of_two                        ? exp2f(static_cast<int>(h % 3) - 1)
            : kind == positive                             ? (h >> 8) * 0x1p-24f
            : kind == of_many_sizes ? ((h >> 8) * 0x1p-23f - 1) * exp2f(static_cast<int>(h % 61) - 30)
            : kind == with_infinities
                ? (h / 5 % 1009 > 2
                       ? static_cast<int>(h % 5) - 2
                       : __uint_as_float(h / 5 % 1009 == 2 ? 0x7fc12345 : 0x7f800000 | (h / 5 % 1009) << 31))
                : (h >> 8) * 0x1p-23f - 1;
        uint32_t bits = bits_of(type == VKGEMM_TYPE_I8 && kind == fractions ? 127 * x : x, type);
        // The first and the last of a line, in every fifth line or so.
        if (kind == ends_infinite && (e % length == 0 || e % length == length - 1) && h / 5 % 5 == 0)
            bits = special_bits(h / 25, type);
        if (type == VKGEMM_TYPE_F64)
            reinterpret_cast<double*>(to)[i] = x;
        else if (type == VKGEMM_TYPE_F32 || type == VKGEMM_TYPE_I32)
            reinterpret_cast<uint32_t*>(to)[i] = bits;
        else if (type == VKGEMM_TYPE_I8 || type == VKGEMM_TYPE_E4M3 || type == VKGEMM_TYPE_E5M2)
            reinterpret_cast<uint8_t*>(to)[i] = static_cast<uint8_t>(bits);
        else
            reinterpret_cast<uint16_t*>(to)[i] = static_cast<uint16_t>(bits);
    }
}

/// One thread for each element of D, or of the sums of a slice.
extern "C" __global__ void compare(const __grid_constant__ Case c, Finding* finding) {
    const uint32_t col = blockIdx.x * 16 + threadIdx.x % 16, row = blockIdx.y * 16 + threadIdx.x / 16;
    const uint32_t batch = blockIdx.z % c.batch, slice = blockIdx.z / c.batch;
    if (row >= c.m || col >= c.n) return;
    const uint32_t begin = slice * c.k_chunk, end = c.is_partial ? min(c.k, begin + c.k_chunk) : c.k;
    float x = 0;
    double sum = 0, sizes = 0;
    for (uint32_t k = begin; k < end; ++k) {
        const float u = value_at(c.a, c.type_a, batch * c.stride_a + (c.a_turned ? k * c.lda + row : row * c.lda + k));
        const float v = value_at(c.b, c.type_b, batch * c.stride_b + (c.b_turned ? col * c.ldb + k : k * c.ldb + col));
        x += u * v;
        if (c.error > 0) {
            sum += double{u} * v;
            sizes += fabs(double{u} * v);
        }
    }
    uint64_t i = batch * c.stride_d + row * c.ldd + col;
    if (c.is_partial) {
        i = ((uint64_t{slice} * c.batch + batch) * c.m + row) * c.n + col;
    } else {
        x *= c.alpha;
        if (c.use_c)
            x += c.beta *
                 value_at(c.c, c.type_c, batch * c.stride_c + (c.c_turned ? col * c.ldc + row : row * c.ldc + col));
        const uint64_t in_residual = i;
        for (uint32_t s : c.steps) x = after(c, s, row, col, in_residual, x);
    }
    if (c.type_d == VKGEMM_TYPE_I8) x = isnan(x) ? 0 : fminf(fmaxf(rintf(x), -128), 127);
    const float got = value_at(c.d, c.type_d, i);
    if (c.error > 0) {
        const float off = static_cast<float>(fabs(got - sum) / sizes * 0x1p24);
        atomicMax(&finding->error, __float_as_uint(off));  // a NaN is above all
        atomicAdd(&finding->elements, 1u);
        if (off <= c.error || atomicAdd(&finding->wrong, 1u) != 0) return;
        finding->row = row;
        finding->col = col;
        finding->z = blockIdx.z;
        finding->got = got;
        finding->expected = static_cast<float>(sum);
        return;
    }
    const bool is_right = (isnan(x) && isnan(got)) || bits_of(x, c.type_d) == bits_of(got, c.type_d) ||
                          (c.tolerance > 0 && fabsf(got - x) <= c.tolerance * (0.1f + fabsf(x)));
    atomicAdd(&finding->elements, 1u);
    if (is_right || atomicAdd(&finding->wrong, 1u) != 0) return;
    finding->row = row;
    finding->col = col;
    finding->z = blockIdx.z;
    finding->got = got;
    finding->expected = x;
}

/// Whether words of 16 bits that are not D's still are what `poison` says.
extern "C" __global__ void guard(const __grid_constant__ Case c, uint64_t from, uint64_t halves, uint32_t poison,
                                 Finding* finding) {
    const uint32_t wide = c.type_d == VKGEMM_TYPE_F64                                  ? 4
                          : c.type_d == VKGEMM_TYPE_F32 || c.type_d == VKGEMM_TYPE_I32 ? 2
                                                                                       : 1;
    const uint64_t first = (c.d - from) / 2, stride = c.is_partial ? uint64_t{c.m} * c.n : c.stride_d;
    const uint64_t pitch = c.is_partial ? c.n : c.ldd, matrices = uint64_t{c.batch} * (c.is_partial ? c.slices : 1);
    for (uint64_t h = blockIdx.x * uint64_t{blockDim.x} + threadIdx.x; h < halves;
         h += uint64_t{gridDim.x} * blockDim.x) {
        const auto exists = [&](uint64_t i) {
            const uint64_t in_matrix = matrices > 1 ? i % stride : i;
            return (matrices == 1 || i / stride < matrices) && in_matrix / pitch < c.m && in_matrix % pitch < c.n;
        };
        if (h >= first && c.type_d == VKGEMM_TYPE_I8 && (exists(2 * (h - first)) || exists(2 * (h - first) + 1)))
            continue;
        if (h >= first && c.type_d != VKGEMM_TYPE_I8 && exists((h - first) / wide)) continue;
        if (reinterpret_cast<const uint16_t*>(from)[h] != poison) atomicAdd(&finding->touched, 1u);
    }
}

}  // namespace vkgemm::native
