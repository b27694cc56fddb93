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

/// The bits of the least number that an element of the type cannot hold.
DEVICE uint32_t infinite_in(uint32_t type) {
    return type == VKGEMM_TYPE_F16 ? 0x477ff000 : type == VKGEMM_TYPE_BF16 ? 0x7f7f8000 : 0x7f800000;
}

/// VkgemmScalars, at the address in the place of the clamp's bounds.
struct ScalarsInMemory {
    float alpha, beta, low, high;
    uint32_t non_finite;
};

template <class V>
struct Scalars {
    V alpha, beta;
    float low, high;
    bool is_nothing;  // the product counts as 0, whatever alpha or the sum is
    ScalarsInMemory* memory;
};
template <class V>
DEVICE Scalars<V> read_scalars(const NativeArgs& x) {
    const uint32_t has = x.constants[SCALARS];
    auto* memory = reinterpret_cast<ScalarsInMemory*>(uint64_t{x.args.clamp_or_scalars.scalars.y} << 32 |
                                                      x.args.clamp_or_scalars.scalars.x);
    Scalars<V> s = {value_of<V>(x.args.alpha, x.args.alpha_high),
                    value_of<V>(x.args.beta, x.args.beta_high),
                    __uint_as_float(x.args.clamp_or_scalars.clamp.low),
                    __uint_as_float(x.args.clamp_or_scalars.clamp.high),
                    false,
                    memory};
    if (has & SCALARS_ALPHA) s.alpha = static_cast<V>(memory->alpha);  // floats alone have them there
    if (has & SCALARS_BETA) s.beta = static_cast<V>(memory->beta);
    if (has & SCALARS_CLAMP) {
        s.low = memory->low;
        s.high = memory->high;
    }
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
/// x / (1 + 2^t)
DEVICE float gated(float x, float t) { return x * reciprocal(1 + exp2_of(t)); }
DEVICE float gelu(float x) { return gated(x, x * (-2.3022081985f - 0.1029432396f * (x * x))); }  // as in epilogue.glsl

template <class V, int count, class F>
DEVICE void each(V (&v)[count], F&& f) {
#pragma unroll
    for (int i = 0; i < count; ++i) f(v[i], i);
}

/// The steps that depend on the value alone. NaN stays NaN.
template <int count>
DEVICE void activate(uint32_t step, float (&v)[count], const Scalars<f32>& s, float slope) {
    switch (step) {
        case VKGEMM_STEP_RELU:
            each(v, [](float& x, int) { x = x < 0 ? 0 : x; });
            break;
        case VKGEMM_STEP_GELU:
            each(v, [](float& x, int) { x = gelu(x); });
            break;
        case VKGEMM_STEP_SILU:
            each(v, [](float& x, int) { x = gated(x, -1.4426950409f * x); });
            break;
        case VKGEMM_STEP_CLAMP:
            each(v, [&](float& x, int) { x = x < s.low ? s.low : x > s.high ? s.high : x; });
            break;
        case VKGEMM_STEP_LEAKY_RELU:
            each(v, [&](float& x, int) { x = x > 0 ? x : slope * x; });
    }
}
/// In f64: without the two that would need a power of 2.
template <int count>
DEVICE void activate(uint32_t step, f64 (&v)[count], const Scalars<f64>& s, float slope) {
    switch (step) {
        case VKGEMM_STEP_RELU:
            each(v, [](f64& x, int) { x = x < 0 ? 0 : x; });
            break;
        case VKGEMM_STEP_CLAMP:
            each(v, [&](f64& x, int) { x = x < s.low ? s.low : x > s.high ? s.high : x; });
            break;
        case VKGEMM_STEP_LEAKY_RELU:
            each(v, [&](f64& x, int) { x = x > 0 ? x : slope * x; });
    }
}
template <int count>
DEVICE void activate(uint32_t step, i32 (&v)[count], const Scalars<i32>&, float) {
    if (step == VKGEMM_STEP_RELU) each(v, [](i32& x, int) { x = max(x, 0); });
}

/// Finishes the sums of a warp in the registers where they are, and stores them. A lane has, of every 8 columns, two
/// neighbours in a row and two in the row 8 below.
template <class D>
struct Finish {
    static constexpr bool from_whole = std::is_same_v<D, scaled>;
    static constexpr bool is_floating = std::is_same_v<D, floating>, by_format = from_whole || is_floating;
    using V = ValueOf<D>;
    using Sum = std::conditional_t<from_whole, i32, V>;
    static constexpr int of_box = sums_of_box<D>;
    const NativeArgs& x;
    const Scalars<V> scalars;

    DEVICE explicit Finish(const NativeArgs& args) : x(args), scalars(read_scalars<V>(args)) {}

    DEVICE bool has_c() const { return x.constants[USE_C] != 0 && scalars.beta != 0; }
    /// Nothing but alpha, and the copy engine reaches D.
    DEVICE bool is_plain() const {
        const uint32_t* c = x.constants;
        return x.d_is_mapped && !scalars.is_nothing && !has_c() &&
               ((c[SCALARS] & SCALARS_MONITOR) | c[STEP_0] | c[STEP_1] | c[STEP_2] | c[STEP_3]) == 0;
    }

    /// GELU of the sums, or of the sums and a bias of each column of D's type, in words of two: what networks ask for
    /// most.
    DEVICE bool is_gelu() const {
        const uint32_t* c = x.constants;
        const bool biased = has_bias();
        return x.d_is_mapped && !scalars.is_nothing && !has_c() && !c[PARTIAL] && !(c[SCALARS] & SCALARS_MONITOR) &&
               c[biased ? STEP_1 : STEP_0] == VKGEMM_STEP_GELU && c[biased ? STEP_2 : STEP_1] == VKGEMM_STEP_NONE &&
               (!biased || (x.args.bias.x % 4 == 0 && (!c[FORMAT_BIAS] || c[FORMAT_BIAS] == type_of<D>)));
    }
    DEVICE bool has_bias() const { return x.constants[STEP_0] == VKGEMM_STEP_BIAS_COL; }

    /// The bias of a lane's columns, of every 8 two neighbours from `col` on; 0 if there is none.
    template <int count>
    DEVICE void load_bias(uint32_t (&pairs)[count], uint32_t col) const {
        const uint64_t begin = address_of(x.args.bias) + 2 * uint64_t{col};
        const bool biased = has_bias();
#pragma unroll
        for (int i = 0; i < count; ++i)
            pairs[i] = bits_of(element_at<i32, 4>(begin + 16 * i, 0, biased && col + 8 * i < x.args.n));
    }

    /// finish_all() if is_gelu(). Without loops, and with the bias loaded before the sums are ready, a warp executes
    /// about 1,150 instructions in place of 2,800.
    template <int count>
    DEVICE void finish_gelu(Staging& staging, const V (&sums)[count], const uint32_t (&bias)[count / 4], uint32_t row,
                            uint32_t col, uint32_t z) const {
#pragma unroll
        for (int first = 0; first < count; first += of_box) {
            V v[of_box];
#pragma unroll
            for (int i = 0; i < of_box; ++i) {
                const uint32_t pair = bias[(first + i) / 4], half = i % 2 ? pair >> 16 : pair & 0xffff;
                v[i] = gelu(fmaf(scalars.alpha, sums[first + i], f32_of(half, type_of<D>)));
            }
            store_values<D>(x, staging, v, row, col + 2 * first, z);
        }
    }

    /// Elements of a vector, or of a matrix, in global memory.
    struct Source {
        uint64_t begin;
        uint32_t type;
        uint64_t first, down, across;  // the element at (0, 0), and the steps to the next row and column
    };
    DEVICE Source source(uint32_t step, uint32_t batch) const {
        const abi::GemmArgs& a = x.args;
        const uint32_t* c = x.constants;
        const auto type = [](uint32_t format) { return format ? format : type_of<D>; };
        const uint64_t in_c = uint64_t{batch} * a.batch_c, in_d = uint64_t{batch} * a.batch_d;
        if (step == ADD_C) {
            const bool down = c[TRANS_C] != 0;
            return {.begin = address_of(a.c),
                    .type = type(c[FORMAT_C]),
                    .first = in_c,
                    .down = down ? 1 : a.ldc,
                    .across = down ? a.ldc : 1};
        }
        if (step == VKGEMM_STEP_RESIDUAL)
            return {.begin = address_of(a.residual),
                    .type = type(c[FORMAT_RESIDUAL]),
                    .first = in_d,
                    .down = a.ldd,
                    .across = 1};
        const bool is_bias = step == VKGEMM_STEP_BIAS_ROW || step == VKGEMM_STEP_BIAS_COL;
        const bool by_row = step == VKGEMM_STEP_BIAS_ROW || step == VKGEMM_STEP_SCALE_ROW;
        const bool by_col = step == VKGEMM_STEP_BIAS_COL || step == VKGEMM_STEP_SCALE_COL;
        return {.begin = address_of(is_bias ? a.bias : a.scale),
                .type = type(c[is_bias ? FORMAT_BIAS : FORMAT_SCALE]),
                .first = 0,
                .down = by_row,
                .across = by_col};
    }

    DEVICE static uint32_t bytes_of(uint32_t type) {
        if (from_whole && type == VKGEMM_TYPE_I8) return 1;
        return type == VKGEMM_TYPE_F16 || type == VKGEMM_TYPE_BF16 ? 2 : sizeof(V);
    }

    /// What a step adds or multiplies with, where it is inside D: of all elements, or of a row, or of a column.
    template <uint32_t bytes, bool by_row, bool by_col, class W, int count>
    DEVICE void load(W (&w)[count], const Source& from, uint32_t row, uint32_t col) const {
        const uint64_t begin = from.begin + bytes * (from.first + row * from.down + col * from.across);
        const uint64_t down = by_row ? 8 * bytes * from.down : 0, across = by_col ? bytes * from.across : 0;
#pragma unroll
        for (int i = 0; i < count; ++i) {
            const int r = i % 4 / 2, c = i / 4 * 8 + i % 2, known = by_row ? (by_col ? i : i & 2) : i & ~2;
            if (i != known) {
                w[i] = w[known];
                continue;
            }
            const bool exists = (!by_row || row + 8 * r < x.args.m) && (!by_col || col + c < x.args.n);
            w[i] = element_at<W, bytes>(begin + r * down + c * across, from.type, exists);
        }
    }
    template <uint32_t bytes, class W, int count>
    DEVICE void load(W (&w)[count], const Source& from, uint32_t row, uint32_t col) const {
        if (by_format || (from.down && from.across))  // one for all keeps modules with many types small
            load<bytes, true, true>(w, from, row, col);
        else if (from.across)
            load<bytes, false, true>(w, from, row, col);
        else
            load<bytes, true, false>(w, from, row, col);
    }

    template <int count>
    DEVICE void apply(uint32_t step, V (&v)[count], uint32_t row, uint32_t col, uint32_t batch) const {
        if (step >= VKGEMM_STEP_RELU && step != ADD_C) {
            activate(step, v, scalars, __uint_as_float(x.constants[SLOPE]));
            return;
        }
        V w[count];
        const Source from = source(step, batch);
        const uint32_t bytes = bytes_of(from.type);
        if (from_whole && from.type == VKGEMM_TYPE_I32) return;  // the bias of whole_sums
        if (from_whole && bytes == 1)
            load<from_whole ? 1 : sizeof(V)>(w, from, row, col);
        else if (!std::is_same_v<V, f32> || bytes == sizeof(V))
            load<sizeof(V)>(w, from, row, col);
        else
            load<2>(w, from, row, col);
        const bool scales = step >= VKGEMM_STEP_SCALE_ROW && step <= VKGEMM_STEP_SCALE_ALL;
        const V factor = step == ADD_C ? scalars.beta : V{1};
        if (scales)
            each(v, [&](V& y, int i) { y *= w[i]; });
        else
            each(v, [&](V& y, int i) { y += factor * w[i]; });
    }

    /// Sums of whole numbers as values, after a bias of whole numbers, which is the first step. `count`: of them, from
    /// the box's own on.
    template <int count>
    DEVICE void whole_sums(V (&v)[of_box], const i32 (&sums)[count], uint32_t row, uint32_t col) const {
        i32 w[of_box];
        each(w, [](i32& y, int) { y = 0; });
        if (x.constants[FORMAT_BIAS] == VKGEMM_TYPE_I32) load<4>(w, source(x.constants[STEP_0], 0), row, col);
        each(v, [&](V& y, int i) { y = scalars.alpha * static_cast<V>(w[i] + (scalars.is_nothing ? 0 : sums[i])); });
    }

    /// Values of a box whose first elements of this lane are at (row, col).
    template <int count>
    DEVICE void finish(V (&v)[count], uint32_t row, uint32_t col, uint32_t batch) const {
        if (from_whole) {
        } else if (scalars.is_nothing)
            each(v, [](V& y, int) { y = 0; });
        else if (scalars.alpha != 1)
            each(v, [&](V& y, int) { y *= scalars.alpha; });
#pragma unroll 1
        for (int i = has_c() ? -1 : 0; i < 4; ++i) {
            const uint32_t step = i < 0 ? ADD_C : x.constants[STEP_0 + i];
            if (step == VKGEMM_STEP_NONE) break;
            apply(step, v, row, col, batch);
        }
        if (x.constants[SCALARS] & SCALARS_MONITOR) monitor(v, row, col);
    }
    template <int count>
    DEVICE void monitor(const V (&v)[count], uint32_t row, uint32_t col) const {
        const uint32_t infinite = infinite_in(by_format ? x.constants[FORMAT_D] : type_of<D>);
        bool seen = false;
#pragma unroll
        for (int i = 0; i < count; ++i)
            seen |= std::is_same_v<V, f32> && (bits_of(static_cast<f32>(v[i])) & 0x7fffffff) >= infinite &&
                    row + i % 4 / 2 * 8 < x.args.m && col + i / 4 * 8 + i % 2 < x.args.n;
        if (seen) scalars.memory->non_finite = 1;  // all writers write the same
    }

    /// finish() of half a box at a time, which takes half the code.
    DEVICE void finish_in_halves(V (&v)[of_box], uint32_t row, uint32_t col, uint32_t batch) const {
        constexpr int half = of_box / 2;
#pragma unroll 1
        for (int i = 0; i < 2; ++i, col += of_box) {
            finish(reinterpret_cast<V(&)[half]>(v), row, col, batch);
#pragma unroll
            for (int e = 0; e < half; ++e) {
                const V y = v[e];
                v[e] = v[half + e];
                v[half + e] = y;
            }
        }
    }

    /// The values of a box, or of two, whose first element is at (row, col) of matrix z, of D or of the sums of slices.
    template <class To>
    DEVICE void store(Staging& staging, const V (&v)[of_box], uint32_t row, uint32_t col, uint32_t z) const {
        constexpr int part = sums_of_box<To>;
        const bool is_partial = is_floating && x.constants[PARTIAL];
        const uint32_t ld = is_partial ? x.args.n : x.args.ldd;
        const uint64_t first = z * (is_partial ? uint64_t{x.args.m} * ld : x.args.batch_d);
        if (!x.d_is_mapped)
            store_rows_of<To>(staging, v, first, ld, row, col);
        else if constexpr (sizeof(To) == 1)
            store_bytes(x, staging.address, staging.lane, v, row, col,
                        address_of(x.args.d) + first + uint64_t{row} * ld + col, x.args.n,
                        [](f32 y) { return byte_of(y); });
        else
#pragma unroll
            for (int i = 0; i < of_box; i += part)
                store_values<To>(x, staging, reinterpret_cast<const V(&)[part]>(v[i]), row, col + 2 * i, z);
    }
    DEVICE void store_as(uint32_t type, Staging& staging, const V (&v)[of_box], uint32_t row, uint32_t col,
                         uint32_t z) const {
        switch (type) {
            case VKGEMM_TYPE_F32:
                return store<f32>(staging, v, row, col, z);
            case VKGEMM_TYPE_F16:
                return store<f16>(staging, v, row, col, z);
            case VKGEMM_TYPE_BF16:
                return store<bf16>(staging, v, row, col, z);
            default:
                if (from_whole) store<i8>(staging, v, row, col, z);
        }
    }

    /// A box of sums that become elements of the type that FORMAT_D says, or stay f32 if K is split.
    DEVICE void finish_floating(Staging& staging, V (&v)[of_box], uint32_t row, uint32_t col,
                                const Place& place) const {
        const bool is_partial = x.constants[PARTIAL] != 0;
        if (!is_partial)
            finish_in_halves(v, row + staging.lane / 4, col + staging.lane % 4 * 2, place.batch);
        else if (scalars.is_nothing)
            each(v, [](V& y, int) { y = 0; });
        store_as(is_partial ? VKGEMM_TYPE_F32 : x.constants[FORMAT_D], staging, v, row, col,
                 is_partial ? place.slice * x.args.batch + place.batch : place.batch);
    }

    /// 16 rows from `row` on, 2 count columns from `col` on. A loop of boxes, not unrolled, to keep the code small: the
    /// sums move down instead, which costs little beside what is done to them.
    template <int count>
    DEVICE void finish_all(Staging& staging, Sum (&sums)[count], uint32_t row, uint32_t col, const Place& place) const {
        const uint32_t lane_row = row + staging.lane / 4;
#pragma unroll 1
        for (int first = 0; first < count; first += of_box, col += 2 * of_box) {
            const uint32_t lane_col = col + staging.lane % 4 * 2;
            V v[of_box];  // not the sums themselves, which would then change registers in the loop that adds them up
            if constexpr (from_whole)
                whole_sums(v, sums, lane_row, lane_col);
            else
                each(v, [&](V& y, int i) { y = sums[i]; });
            if constexpr (is_floating) {
                finish_floating(staging, v, row, col, place);
            } else if (!from_whole && x.constants[PARTIAL]) {
                if (scalars.is_nothing) each(v, [](V& y, int) { y = 0; });
                store_rows_of<V>(staging, v, uint64_t{place.slice * x.args.batch + place.batch} * x.args.m * x.args.n,
                                 x.args.n, row, col);
            } else {
                finish(v, lane_row, lane_col, place.batch);
                if constexpr (from_whole)
                    store_as(x.constants[FORMAT_D], staging, v, row, col, place.batch);
                else
                    store<D>(staging, v, row, col, place.batch);
            }
#pragma unroll
            for (int i = 0; i + of_box < count; ++i) sums[i] = sums[i + of_box];
        }
    }

    /// A few sums, whose first element is at (row, col), of a tile too narrow for the copy engine.
    template <int count>
    DEVICE void finish_few(Sum (&sums)[count], uint32_t row, uint32_t col, const Place& place) const {
        const uint64_t z = place.slice * x.args.batch + place.batch;
        if (x.constants[PARTIAL]) {
            if (scalars.is_nothing) each(sums, [](V& y, int) { y = 0; });
            store_elements<V>(sums, z * x.args.m * x.args.n, x.args.n, row, col);
            return;
        }
        finish(sums, row, col, place.batch);
        if (sizeof(D) == 2 && x.d_is_mapped)
            store_pairs(sums, z * x.args.batch_d, row, col);
        else
            store_elements<D>(sums, z * x.args.batch_d, x.args.ldd, row, col);
    }
    /// store_elements() to D, if neighbours lie in one word.
    template <int count>
    DEVICE void store_pairs(const V (&v)[count], uint64_t first, uint32_t row, uint32_t col) const {
        const uint64_t begin = address_of(x.args.d) + 2 * (first + uint64_t{row} * x.args.ldd + col);
#pragma unroll
        for (int i = 0; i < count; i += 2) {
            const uint32_t r = i % 4 / 2 * 8, c = i / 4 * 8, pair = pair_of<D>(v[i], v[i + 1]);
            set_element_at<i32>(begin + 2 * (uint64_t{r} * x.args.ldd + c), static_cast<i32>(pair),
                                row + r < x.args.m && col + c < x.args.n);
        }
    }

    /// Where the copy engine cannot: to the matrix that begins with the element `first`, whose first element here is at
    /// (row, col).
    template <class To>
    DEVICE void store_rows_of(Staging& staging, const V (&v)[of_box], uint64_t first, uint32_t ld, uint32_t row,
                              uint32_t col) const {
        if constexpr (sizeof(To) == 1) {
            store_elements<To>(v, first, ld, row + staging.lane / 4, col + staging.lane % 4 * 2);
            return;
        } else {
            constexpr uint32_t part = sums_of_box<To>;
            const uint64_t begin = address_of(x.args.d) + sizeof(To) * (first + uint64_t{row} * ld + col);
            const uint32_t rows = row < x.args.m ? min(x.args.m - row, store_rows) : 0;
#pragma unroll
            for (uint32_t i = 0; i < of_box; i += part) {
                const uint32_t before = col + 2 * i;
                if (before >= x.args.n) break;
                const uint32_t box = staging.address + staging.box * (staging_bytes / 2);
                staging.box ^= 1;  // a lane that is behind may still read the other
                fill_box<To>(box, staging.lane, reinterpret_cast<const V(&)[part]>(v[i]));
                __syncwarp();
                copy_box<To>(box, staging.lane, begin + 2 * i * sizeof(To), uint64_t{ld} * sizeof(To), rows,
                             min(x.args.n - before, 2 * part));
            }
        }
    }
    /// To elements of a matrix that begins with the element `first`.
    template <class To, int count>
    DEVICE void store_elements(const V (&v)[count], uint64_t first, uint32_t ld, uint32_t row, uint32_t col) const {
        const uint64_t begin = address_of(x.args.d) + sizeof(To) * (first + uint64_t{row} * ld + col);
#pragma unroll
        for (int i = 0; i < count; ++i) {
            const int r = i % 4 / 2 * 8, c = i / 4 * 8 + i % 2;
            const bool exists = row + r < x.args.m && col + c < x.args.n;
            set_element_at<To>(begin + r * uint64_t{ld} * sizeof(To) + c * sizeof(To), v[i], exists);
        }
    }
};

/// Sums of whole numbers become elements of the type that FORMAT_D says, or stay what they are if K is split.
template <int count>
DEVICE void finish_scaled(const NativeArgs& x, Staging& staging, i32 (&sums)[count], uint32_t row, uint32_t col,
                          const Place& place) {
    if (x.constants[PARTIAL]) {
        if (x.d_is_mapped && x.args.k != 0)
            store_sums<i32>(x, staging, sums, 1, row, col, place.slice * x.args.batch + place.batch);
        else
            Finish<i32>(x).finish_all(staging, sums, row, col, place);
        return;
    }
    Finish<scaled>(x).finish_all(staging, sums, row, col, place);
}

}  // namespace vkgemm::native
