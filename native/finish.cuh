// SPDX-License-Identifier: MIT
// How a sum becomes a value of D: alpha, beta and C, then up to four steps, as in shaders/epilogue.glsl. They are read
// at run time, and all of it is one loop, so that it weighs little in each kernel.
#pragma once
#include "native/store.cuh"
#include "vkgemm/tables.h"

namespace vkgemm::native {

enum ElementType : uint32_t {
#define VKGEMM_ROW(name, number, ...) name = number,
    VKGEMM_TYPE_ROWS(VKGEMM_ROW)
#undef VKGEMM_ROW
};
enum StepKind : uint32_t {
    VKGEMM_STEP_NONE = 0,
#define VKGEMM_ROW(name, number, ...) name = number,
    VKGEMM_STEP_ROWS(VKGEMM_ROW)
#undef VKGEMM_ROW
        ADD_C  // before all steps: beta times C
};

template <class D>
constexpr uint32_t type_of = __is_same(D, f16)    ? VKGEMM_TYPE_F16
                             : __is_same(D, bf16) ? VKGEMM_TYPE_BF16
                                                  : VKGEMM_TYPE_F32;
/// The bits of the least number that D cannot hold.
template <class D>
constexpr uint32_t infinite_in = __is_same(D, f16)    ? 0x477ff000
                                 : __is_same(D, bf16) ? 0x7f7f8000
                                                      : 0x7f800000;

DEVICE uint64_t address_of(abi::uvec2 words) { return uint64_t{words.y} << 32 | words.x; }

/// VkgemmScalars, at the address in the place of the clamp's bounds.
struct ScalarsInMemory {
    float alpha, beta, low, high;
    uint32_t non_finite;
};

struct Scalars {
    float alpha, beta, low, high;
    bool is_nothing;  // the product counts as 0, whatever alpha or the sum is
    ScalarsInMemory* memory;
};
DEVICE Scalars read_scalars(const NativeArgs& x) {
    const uint32_t has = x.constants[SCALARS];
    auto* memory = reinterpret_cast<ScalarsInMemory*>(uint64_t{x.args.clamp_hi} << 32 | x.args.clamp_lo);
    Scalars s = {__uint_as_float(x.args.alpha),
                 __uint_as_float(x.args.beta),
                 __uint_as_float(x.args.clamp_lo),
                 __uint_as_float(x.args.clamp_hi),
                 false,
                 memory};
    if (has & SCALARS_ALPHA) s.alpha = memory->alpha;
    if (has & SCALARS_BETA) s.beta = memory->beta;
    if (has & SCALARS_CLAMP) s.low = memory->low, s.high = memory->high;
    s.is_nothing = x.args.k == 0 || ((has & SCALARS_ALPHA) && s.alpha == 0);
    return s;
}

/// Where eight values come from or go to; with a stride of 0 they are one and the same.
struct Eight {
    uint64_t begin;
    uint32_t type;
    uint64_t first, stride;  // elements
    uint32_t count;          // that exist

    DEVICE uint64_t address() const { return begin + first * (type == VKGEMM_TYPE_F32 ? 4 : 2); }
    DEVICE bool is_wide() const { return count == 8 && stride == 1 && address() % 16 == 0; }
};

DEVICE float f32_of(uint32_t bits, uint32_t type) {
    return type == VKGEMM_TYPE_F16 ? __half2float(__ushort_as_half(bits)) : __uint_as_float(bits << 16);
}

DEVICE void load(float (&v)[8], const Eight& from) {
    const uint64_t p = from.address();
    if (from.is_wide() && from.type == VKGEMM_TYPE_F32) {
        const float4 low = *reinterpret_cast<const float4*>(p), high = reinterpret_cast<const float4*>(p)[1];
        v[0] = low.x, v[1] = low.y, v[2] = low.z, v[3] = low.w;
        v[4] = high.x, v[5] = high.y, v[6] = high.z, v[7] = high.w;
    } else if (from.is_wide()) {
        const uint4 all = *reinterpret_cast<const uint4*>(p);
        const uint32_t words[] = {all.x, all.y, all.z, all.w};
#pragma unroll
        for (int i = 0; i < 8; ++i) v[i] = f32_of(words[i / 2] >> 16 * (i % 2) & 0xffff, from.type);
    } else {
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            v[i] = 0;
            if (i >= from.count) continue;
            if (from.type == VKGEMM_TYPE_F32)
                v[i] = reinterpret_cast<const float*>(p)[i * from.stride];
            else
                v[i] = f32_of(reinterpret_cast<const uint16_t*>(p)[i * from.stride], from.type);
        }
    }
}

DEVICE void store(const float (&v)[8], const Eight& to) {
    uint32_t words[4];
#pragma unroll
    for (int i = 0; i < 4; ++i)
        words[i] =
            to.type == VKGEMM_TYPE_F16 ? pair_of<f16>(v[2 * i], v[2 * i + 1]) : pair_of<bf16>(v[2 * i], v[2 * i + 1]);
    const uint64_t p = to.address();
    if (to.is_wide() && to.type == VKGEMM_TYPE_F32) {
        reinterpret_cast<float4*>(p)[0] = {v[0], v[1], v[2], v[3]};
        reinterpret_cast<float4*>(p)[1] = {v[4], v[5], v[6], v[7]};
    } else if (to.is_wide()) {
        *reinterpret_cast<uint4*>(p) = {words[0], words[1], words[2], words[3]};
    } else {
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            if (i >= to.count) continue;
            if (to.type == VKGEMM_TYPE_F32)
                reinterpret_cast<float*>(p)[i] = v[i];
            else
                reinterpret_cast<uint16_t*>(p)[i] = static_cast<uint16_t>(words[i / 2] >> 16 * (i % 2));
        }
    }
}

DEVICE float exp2_of(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
DEVICE float reciprocal(float x) {
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

/// A step on values v with its operand w. NaN stays NaN.
DEVICE void apply(uint32_t step, float (&v)[8], const float (&w)[8], const Scalars& s, float slope) {
    const auto each = [&](auto&& f) {
#pragma unroll
        for (int i = 0; i < 8; ++i) v[i] = f(v[i], w[i]);
    };
    switch (step) {
        case ADD_C:
            each([&](float x, float y) { return x + s.beta * y; });
            break;
        case VKGEMM_STEP_BIAS_ROW:
        case VKGEMM_STEP_BIAS_COL:
        case VKGEMM_STEP_RESIDUAL:
            each([](float x, float y) { return x + y; });
            break;
        case VKGEMM_STEP_SCALE_ROW:
        case VKGEMM_STEP_SCALE_COL:
        case VKGEMM_STEP_SCALE_ALL:
            each([](float x, float y) { return x * y; });
            break;
        case VKGEMM_STEP_RELU:
            each([](float x, float) { return x < 0 ? 0.f : x; });
            break;
        case VKGEMM_STEP_GELU:  // as in epilogue.glsl
            each([](float x, float) {
                return x * reciprocal(1 + exp2_of(x * (-2.3022081985f - 0.1029432396f * (x * x))));
            });
            break;
        case VKGEMM_STEP_SILU:
            each([](float x, float) { return x * reciprocal(1 + exp2_of(-1.4426950409f * x)); });
            break;
        case VKGEMM_STEP_CLAMP:
            each([&](float x, float) { return x < s.low ? s.low : x > s.high ? s.high : x; });
            break;
        case VKGEMM_STEP_LEAKY_RELU:
            each([&](float x, float) { return x > 0 ? x : slope * x; });
    }
}

/// Finishes sums: what they lack, read from memory.
template <class D>
struct Finish {
    const NativeArgs& x;
    const Scalars scalars;

    DEVICE explicit Finish(const NativeArgs& args) : x(args), scalars(read_scalars(args)) {}

    /// Nothing but alpha, and the copy engine reaches D.
    DEVICE bool is_plain() const {
        const uint32_t* c = x.constants;
        return x.d_is_mapped && x.args.k != 0 && !has_c() &&
               (c[SCALARS] | c[STEP_0] | c[STEP_1] | c[STEP_2] | c[STEP_3]) == 0;
    }
    DEVICE bool has_c() const { return x.constants[USE_C] != 0 && scalars.beta != 0; }

    DEVICE Eight operand(uint32_t step, const Eight& d, uint32_t row, uint32_t col, uint32_t batch) const {
        const abi::GemmArgs& a = x.args;
        const uint32_t* c = x.constants;
        const auto type = [](uint32_t format) { return format ? format : type_of<D>; };
        const bool down = c[TRANS_C] != 0;
        switch (step) {
            case ADD_C:
                return {
                    address_of(a.c), type(c[FORMAT_C]),
                    uint64_t{batch} * a.batch_c + (down ? uint64_t{col} * a.ldc + row : uint64_t{row} * a.ldc + col),
                    down ? a.ldc : 1u, d.count};
            case VKGEMM_STEP_BIAS_ROW:
                return {address_of(a.bias), type(c[FORMAT_BIAS]), row, 0, d.count};
            case VKGEMM_STEP_BIAS_COL:
                return {address_of(a.bias), type(c[FORMAT_BIAS]), col, 1, d.count};
            case VKGEMM_STEP_SCALE_ROW:
                return {address_of(a.scale), type(c[FORMAT_SCALE]), row, 0, d.count};
            case VKGEMM_STEP_SCALE_COL:
                return {address_of(a.scale), type(c[FORMAT_SCALE]), col, 1, d.count};
            case VKGEMM_STEP_SCALE_ALL:
                return {address_of(a.scale), type(c[FORMAT_SCALE]), 0, 0, d.count};
            case VKGEMM_STEP_RESIDUAL:
                return {address_of(a.residual), type(c[FORMAT_RESIDUAL]), d.first, 1, d.count};
            default:
                return {0, VKGEMM_TYPE_F32, 0, 0, 0};
        }
    }

    /// Where eight columns of D, or of the sums of a slice, begin.
    DEVICE Eight destination(uint32_t row, uint32_t col, const Place& place, uint32_t count) const {
        const abi::GemmArgs& a = x.args;
        if (x.constants[PARTIAL])
            return {address_of(a.d), VKGEMM_TYPE_F32,
                    ((uint64_t{place.slice} * a.batch + place.batch) * a.m + row) * a.n + col, 1, count};
        return {address_of(a.d), type_of<D>, uint64_t{place.batch} * a.batch_d + uint64_t{row} * a.ldd + col, 1, count};
    }

    /// Eight sums of a row, of which `count` are inside D.
    DEVICE void finish(float (&v)[8], uint32_t row, uint32_t col, const Place& place, uint32_t count) const {
        const Eight d = destination(row, col, place, count);
        const bool is_partial = x.constants[PARTIAL] != 0;
        const float alpha = is_partial ? 1 : scalars.alpha;
#pragma unroll
        for (int i = 0; i < 8; ++i) v[i] = scalars.is_nothing ? 0 : alpha * v[i];
        if (!is_partial) {
#pragma unroll 1
            for (int i = has_c() ? -1 : 0; i < 4; ++i) {
                const uint32_t step = i < 0 ? ADD_C : x.constants[STEP_0 + i];
                if (step == VKGEMM_STEP_NONE) break;
                float w[8];
                const Eight from = operand(step, d, row, col, place.batch);
                if (from.count) load(w, from);
                apply(step, v, w, scalars, __uint_as_float(x.constants[SLOPE]));
            }
            monitor(v, count);
        }
        store(v, d);
    }

    DEVICE void monitor(const float (&v)[8], uint32_t count) const {
        if ((x.constants[SCALARS] & SCALARS_MONITOR) == 0) return;
        bool seen = false;
#pragma unroll
        for (int i = 0; i < 8; ++i) seen |= i < count && (__float_as_uint(v[i]) & 0x7fffffff) >= infinite_in<D>;
        if (seen) scalars.memory->non_finite = 1;  // all writers write the same
    }

    /// Finishes the sums of a warp: 16 rows from `row` on, 2 count columns from `col` on. They are laid out in shared
    /// memory, 64 columns at a time, so that eight neighbours come to a lane and loads and stores fill cache lines.
    template <int count>
    DEVICE void finish_all(const Staging& staging, const float (&sums)[count], uint32_t row, uint32_t col,
                           const Place& place) const {
#pragma unroll 1
        for (int part = 0; part < count / 32; ++part) {
#pragma unroll
            for (int i = 0; i < count / 32; ++i)
                if (i == part) lay_out(staging, sums, i * 32);
            __syncwarp();
            const uint32_t unit = staging.lane % 8, first = col + part * 64 + unit * 8;
#pragma unroll 1
            for (uint32_t r = staging.lane / 8; r < store_rows; r += 4) {
                if (row + r >= x.args.m || first >= x.args.n) continue;
                float v[8];
                load_four(v, 0, place_in(staging, r, unit, 0));
                load_four(v, 4, place_in(staging, r, unit, 1));
                finish(v, row + r, first, place, min(x.args.n - first, 8u));
            }
            __syncwarp();
        }
    }

    /// Sums are laid out in 16 rows of 256 bytes: the first four of every eight, then the second four, in units of 16
    /// bytes that are swizzled so that neither side's accesses meet in a bank.
    DEVICE static uint32_t place_in(const Staging& staging, uint32_t row, uint32_t unit, uint32_t half) {
        return staging.address + row * 256 + half * 128 + ((unit ^ row % 8 ^ half * 4) * 16);
    }
    template <int count>
    DEVICE static void lay_out(const Staging& staging, const float (&sums)[count], int first) {
        const uint32_t row = staging.lane / 4, half = staging.lane % 4 / 2, in_unit = staging.lane % 2 * 8;
#pragma unroll
        for (int unit = 0; unit < 8; ++unit) {
            const int i = first + unit * 4;
            store_two(place_in(staging, row, unit, half) + in_unit, sums[i], sums[i + 1]);
            store_two(place_in(staging, row + 8, unit, half) + in_unit, sums[i + 2], sums[i + 3]);
        }
    }
};

}  // namespace vkgemm::native
