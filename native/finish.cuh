// SPDX-License-Identifier: MIT
// How a sum becomes a value of D: alpha, beta and C, then up to four steps, as in shaders/epilogue.glsl. They are read
// at run time, and all of it is one loop, so that it weighs little in each kernel.
#pragma once
#include "native/elements.cuh"

namespace vkgemm::native {

enum StepKind : uint32_t {
    VKGEMM_STEP_NONE = 0,
#define VKGEMM_ROW(name, number, ...) name = number,
    VKGEMM_STEP_ROWS(VKGEMM_ROW)
#undef VKGEMM_ROW
        ADD_C  // before all steps: beta times C
};

/// The bits of the least number that D cannot hold.
template <class D>
constexpr uint32_t infinite_in = __is_same(D, f16)    ? 0x477ff000
                                 : __is_same(D, bf16) ? 0x7f7f8000
                                                      : 0x7f800000;

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
/// x / (1 + 2^t) and y / (1 + 2^u). The unit of reciprocals is the bottleneck, so the two share one; above 60, where the
/// quotient is next to nothing, powers are bounded, so that their product is finite.
DEVICE void gate(float& x, float& y, float t, float u) {
    const float a = 1 + exp2_of(fminf(t, 60)), b = 1 + exp2_of(fminf(u, 60)), r = reciprocal(a * b);
    x *= r * b, y *= r * a;
}

constexpr int rows_of_lane = 4;  // every fourth row of the warp's 16
using Patch = float[rows_of_lane][8];

template <class F>
DEVICE void each(Patch& v, F&& f) {
#pragma unroll
    for (int i = 0; i < rows_of_lane * 8; ++i) f(v[i / 8][i % 8], i / 8, i % 8);
}
template <class F>
DEVICE void each_gated(Patch& v, F&& power) {
#pragma unroll
    for (int i = 0; i < rows_of_lane * 8; i += 2) {
        float &x = v[i / 8][i % 8], &y = v[i / 8][i % 8 + 1];
        gate(x, y, power(x), power(y));
    }
}

/// The steps that depend on the value alone. NaN stays NaN.
DEVICE void activate(uint32_t step, Patch& v, const Scalars& s, float slope) {
    switch (step) {
        case VKGEMM_STEP_RELU:
            each(v, [](float& x, int, int) { x = x < 0 ? 0 : x; });
            break;
        case VKGEMM_STEP_GELU:  // as in epilogue.glsl
            each_gated(v, [](float x) { return x * (-2.3022081985f - 0.1029432396f * (x * x)); });
            break;
        case VKGEMM_STEP_SILU:
            each_gated(v, [](float x) { return -1.4426950409f * x; });
            break;
        case VKGEMM_STEP_CLAMP:
            each(v, [&](float& x, int, int) { x = x < s.low ? s.low : x > s.high ? s.high : x; });
            break;
        case VKGEMM_STEP_LEAKY_RELU:
            each(v, [&](float& x, int, int) { x = x > 0 ? x : slope * x; });
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
    DEVICE bool has(uint32_t step) const {
        const uint32_t* c = x.constants;
        return c[STEP_0] == step || c[STEP_1] == step || c[STEP_2] == step || c[STEP_3] == step;
    }
    DEVICE static uint32_t type(uint32_t format) { return format ? format : type_of<D>; }

    /// Eight columns, from `col` on, of which `columns` are inside D, of four rows, from `row` on.
    struct Where {
        uint32_t row, col, columns;
        Place place;
        uint32_t slot;  // of the lane, in shared memory

        DEVICE uint32_t row_of(int r) const { return row + 4 * r; }
    };
    DEVICE uint32_t inside(const Where& at, int r) const { return at.row_of(r) < x.args.m ? at.columns : 0; }
    DEVICE uint64_t index_d(const Where& at, int r) const {
        return uint64_t{at.place.batch} * x.args.batch_d + uint64_t{at.row_of(r)} * x.args.ldd + at.col;
    }
    /// A row of D, or of the sums of a slice.
    DEVICE Eight destination(const Where& at, int r) const {
        const abi::GemmArgs& a = x.args;
        const uint64_t copy = uint64_t{at.place.slice} * a.batch + at.place.batch;
        if (x.constants[PARTIAL])
            return {address_of(a.d), VKGEMM_TYPE_F32, (copy * a.m + at.row_of(r)) * a.n + at.col, 1,
                    inside(at, r),   at.slot};
        return {address_of(a.d), type_of<D>, index_d(at, r), 1, inside(at, r), at.slot};
    }
    /// A row of C, or of the residual.
    DEVICE Eight row_of_matrix(bool is_c, const Where& at, int r) const {
        const abi::GemmArgs& a = x.args;
        const bool down = is_c && x.constants[TRANS_C] != 0;
        const uint64_t row = at.row_of(r), ld = is_c ? a.ldc : a.ldd, stride = is_c ? a.batch_c : a.batch_d;
        return {address_of(is_c ? a.c : a.residual),
                type(x.constants[is_c ? FORMAT_C : FORMAT_RESIDUAL]),
                at.place.batch * stride + (down ? at.col * ld + row : row * ld + at.col),
                down ? ld : 1,
                inside(at, r),
                at.slot};
    }

    /// What each of eight columns has, the same in all rows.
    struct OfColumns {
        float bias[8], scale[8];
    };
    DEVICE void load_columns(OfColumns& w, const Where& at) const {
        const abi::GemmArgs& a = x.args;
        const uint32_t bias = type(x.constants[FORMAT_BIAS]), scale = type(x.constants[FORMAT_SCALE]);
        if (has(VKGEMM_STEP_BIAS_COL)) load(w.bias, {address_of(a.bias), bias, at.col, 1, at.columns, at.slot});
        if (has(VKGEMM_STEP_SCALE_COL) || has(VKGEMM_STEP_SCALE_ALL)) {
            const bool is_one = has(VKGEMM_STEP_SCALE_ALL);
            load(w.scale, {address_of(a.scale), scale, is_one ? 0 : at.col, is_one ? 0u : 1u, at.columns, at.slot});
        }
    }

    DEVICE void apply(uint32_t step, Patch& v, const OfColumns& w, const Where& at) const {
        switch (step) {
            case ADD_C:
            case VKGEMM_STEP_RESIDUAL:
#pragma unroll
                for (int r = 0; r < rows_of_lane; ++r) {
                    float y[8];
                    load(y, row_of_matrix(step == ADD_C, at, r));
#pragma unroll
                    for (int i = 0; i < 8; ++i) v[r][i] += step == ADD_C ? scalars.beta * y[i] : y[i];
                }
                break;
            case VKGEMM_STEP_BIAS_COL:
                each(v, [&](float& y, int, int i) { y += w.bias[i]; });
                break;
            case VKGEMM_STEP_SCALE_ALL:
            case VKGEMM_STEP_SCALE_COL:
                each(v, [&](float& y, int, int i) { y *= w.scale[i]; });
                break;
            case VKGEMM_STEP_BIAS_ROW:
            case VKGEMM_STEP_SCALE_ROW: {
                const bool is_bias = step == VKGEMM_STEP_BIAS_ROW;
                const uint64_t begin = address_of(is_bias ? x.args.bias : x.args.scale);
                const uint32_t format = type(x.constants[is_bias ? FORMAT_BIAS : FORMAT_SCALE]);
                float of_row[rows_of_lane];
#pragma unroll
                for (int r = 0; r < rows_of_lane; ++r)
                    of_row[r] = at.row_of(r) < x.args.m ? element(begin, format, at.row_of(r)) : 0;
                each(v, [&](float& y, int r, int) { y = is_bias ? y + of_row[r] : y * of_row[r]; });
                break;
            }
            default:
                activate(step, v, scalars, __uint_as_float(x.constants[SLOPE]));
        }
    }

    DEVICE void finish(Patch& v, const OfColumns& w, const Where& at) const {
        const float alpha = x.constants[PARTIAL] ? 1 : scalars.alpha;
        if (scalars.is_nothing)
            each(v, [](float& y, int, int) { y = 0; });
        else if (alpha != 1)
            each(v, [&](float& y, int, int) { y *= alpha; });
#pragma unroll 1
        for (int i = has_c() ? -1 : 0; i < 4; ++i) {
            const uint32_t step = i < 0 ? ADD_C : x.constants[STEP_0 + i];
            if (step == VKGEMM_STEP_NONE) break;
            apply(step, v, w, at);
        }
#pragma unroll
        for (int r = 0; r < rows_of_lane; ++r) monitor(v[r], inside(at, r)), store<D>(v[r], destination(at, r));
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
        const uint32_t unit = staging.lane % 8, lane_row = staging.lane / 8;
#pragma unroll 1
        for (int part = 0; part < count / 32; ++part) {
            const uint32_t first = col + part * 64 + unit * 8;
            const Where at = {row + lane_row, first, first < x.args.n ? min(x.args.n - first, 8u) : 0, place,
                              staging.address + staging.lane * 32};
            OfColumns w;
            load_columns(w, at);
            __syncwarp();
#pragma unroll
            for (int i = 0; i < count / 32; ++i)
                if (i == part) lay_out(staging, sums, i * 32);
            __syncwarp();
            Patch v;
#pragma unroll
            for (int r = 0; r < rows_of_lane; ++r) {
                load_four(v[r], 0, place_in(staging, lane_row + 4 * r, unit, 0));
                load_four(v[r], 4, place_in(staging, lane_row + 4 * r, unit, 1));
            }
            __syncwarp();
            finish(v, w, at);
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
