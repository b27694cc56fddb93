// SPDX-License-Identifier: MIT
// Sums that need nothing but alpha, on their way to D by the copy engine. Each warp stores its own 16 rows, so that no
// barrier is needed: it fills one of two boxes in shared memory while the engine reads the other. Rows of D that the
// engine cannot write, the warp copies from the box.
#pragma once
#include "native/multiply.cuh"
#include "native/work.cuh"

namespace vkgemm::native {

/// Shared memory where a warp lays out what it stores. `box` alternates from one box to the next.
struct Staging {
    uint32_t address, lane;
    uint32_t box = 0;
};

/// Sums of a thread in a box of D's elements: 16 rows of 128 bytes, or of 64 elements of one byte or of any type,
/// shared by 32 lanes.
template <class D>
constexpr int sums_of_box = box_bytes / (sizeof(D) == 1 ? 2 : sizeof(D)) / 2;

DEVICE uint32_t bits_of(f32 x) { return __float_as_uint(x); }
DEVICE uint32_t bits_of(i32 x) { return static_cast<uint32_t>(x); }

/// Two of D's elements of 16 bits.
template <class D>
DEVICE uint32_t pair_of(f32 x, f32 y) {
    if constexpr (std::is_same_v<D, f16>) {
        const __half2 both = __floats2half2_rn(x, y);
        return reinterpret_cast<const uint32_t&>(both);
    } else {
        const __nv_bfloat162 both = __floats2bfloat162_rn(x, y);
        return reinterpret_cast<const uint32_t&>(both);
    }
}

/// To the nearest whole number, of two the even one; NaN becomes 0.
DEVICE uint32_t byte_of(f32 x) {
    uint32_t y;
    asm("cvt.rni.sat.s8.f32 %0, %1;" : "=r"(y) : "f"(x));
    return y & 255;
}

/// Writes 16 rows and 128 bytes of each. A thread has, of every 8 columns, two neighbours in a row and two in the row 8
/// below.
template <class D, class V>
DEVICE void fill_box(uint32_t box, uint32_t lane, const V (&v)[sums_of_box<D>]) {
    if constexpr (sizeof(D) == 2) {
        const uint32_t row = lane % 16;
#pragma unroll
        for (int unit = 0; unit < 8; unit += 2) {  // of 16 bytes: the columns of one matrix
            const int i = unit * 4;
            const uint32_t pairs[] = {pair_of<D>(v[i], v[i + 1]), pair_of<D>(v[i + 2], v[i + 3]),
                                      pair_of<D>(v[i + 4], v[i + 5]), pair_of<D>(v[i + 6], v[i + 7])};
            store_matrices(box + row * box_bytes + ((unit + lane / 16) ^ row % 8) * 16, pairs);
        }
    } else if constexpr (sizeof(D) == 8) {
        const uint32_t row = lane / 4;
#pragma unroll
        for (int i = 0; i < 8; i += 4) {
            const uint32_t unit = i + lane % 4, to = box + row * box_bytes + (unit ^ row) * 16;
            store_two(to, v[i], v[i + 1]);
            store_two(to + 8 * box_bytes, v[i + 2], v[i + 3]);
        }
    } else {
        const uint32_t row = lane / 4, in_unit = lane % 2 * 8;
#pragma unroll
        for (int i = 0; i < 16; i += 4) {
            const uint32_t unit = i / 2 + lane % 4 / 2, to = box + row * box_bytes + (unit ^ row) * 16 + in_unit;
            store_two(to, bits_of(v[i]), bits_of(v[i + 1]));
            store_two(to + 8 * box_bytes, bits_of(v[i + 2]), bits_of(v[i + 3]));
        }
    }
}

/// If it `exists`. A predicate, because ptxas makes a branch of an `if`.
DEVICE void store_global(uint64_t to, uint32_t x, bool exists) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %2, 0;\n@p st.global.b32 [%0], %1;\n}" ::"l"(to), "r"(x),
                 "r"(uint32_t{exists})
                 : "memory");
}
DEVICE void store_global_half(uint64_t to, uint32_t x, bool exists) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %2, 0;\n@p st.global.u16 [%0], %1;\n}" ::"l"(to), "r"(x),
                 "r"(uint32_t{exists})
                 : "memory");
}

/// Writes the first `rows` rows and `columns` columns of a box, at least one of each, as fill_box() has filled it, to D
/// from the address `begin` on, of rows `pitch` bytes apart. All lanes write words of the same row side by side: an
/// element by itself would be a transaction of 32 bytes. Without branches, in which ptxas would spill.
template <class D>
DEVICE void copy_box(uint32_t box, uint32_t lane, uint64_t begin, uint64_t pitch, uint32_t rows, uint32_t columns) {
    constexpr uint32_t together = 4;  // rows whose words are on their way at a time
#pragma unroll 1
    for (uint32_t first = 0; first < rows; first += together) {
        uint32_t words[together];
#pragma unroll
        for (uint32_t i = 0; i < together; ++i) {
            const uint32_t r = first + i, line = box + r * box_bytes;
            if constexpr (sizeof(D) == 2) {  // a word may begin with the second of two elements
                const uint32_t e = 2 * lane + static_cast<uint32_t>(begin + i * pitch) / 2 % 2;
                const auto half = [&](uint32_t e) { return load_half(line + (e / 8 ^ r % 8) * 16 + e % 8 * 2); };
                words[i] = half(e) | half(e + 1) << 16;
            } else {
                words[i] = load_word(line + (lane / 4 ^ r % 8) * 16 + lane % 4 * 4);
            }
        }
#pragma unroll
        for (uint32_t i = 0; i < together; ++i, begin += pitch) {
            const uint32_t existing = first + i < rows ? columns : 0;
            if constexpr (sizeof(D) == 2) {
                const uint32_t shift = static_cast<uint32_t>(begin) / 2 % 2, e = 2 * lane + shift;
                const uint64_t to = begin + 2 * e;
                store_global(to, words[i], e + 1 < existing);
                store_global_half(to, words[i], e + 1 == existing);
                store_global_half(begin, load_half(box + (first + i) * box_bytes + (first + i) % 8 * 16),
                                  shift > lane && existing);
            } else {
                store_global(begin + 4 * lane, words[i], 4 * lane < existing * sizeof(D));
            }
        }
    }
}

/// Where 16 of 64 bytes of a row lie in a box of bytes.
DEVICE uint32_t bytes_at(uint32_t box, uint32_t row, uint32_t unit) {
    return box + row * 64 + (unit ^ row / 2 % 4) * 16;
}

/// Stores 16 rows and 64 bytes of each, at `to`, without the copy engine, whose boxes are twice as wide. `byte` makes a
/// byte of a value. Each lane turns two neighbours in two rows into four in one of them. Rows are ldd bytes apart and
/// have `width`, whole 16 bytes.
template <class V, class F>
DEVICE void store_bytes(const NativeArgs& x, uint32_t box, uint32_t lane, const V (&v)[sums_of_box<i8>], uint32_t row,
                        uint32_t col, uint64_t to, uint32_t width, F&& byte) {
    const bool is_odd = lane % 2;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        const uint32_t own =
            byte(v[4 * i]) | byte(v[4 * i + 1]) << 8 | byte(v[4 * i + 2]) << 16 | byte(v[4 * i + 3]) << 24;
        const uint32_t other = __shfl_xor_sync(~0u, own, 1);
        const uint32_t four = is_odd ? other >> 16 | own & 0xffff0000 : own & 0xffff | other << 16;
        store_one(bytes_at(box, lane / 4 + 8 * is_odd, i / 2) + i % 2 * 8 + lane % 4 / 2 * 4, four);
    }
    __syncwarp();
#pragma unroll
    for (uint32_t i = lane; i < 64; i += 32) {
        const uint32_t r = i / 4, unit = i % 4;
        if (row + r < x.args.m && col + 16 * unit < width)
            *reinterpret_cast<uint4*>(to + r * x.args.ldd + 16 * unit) = load_chunk(bytes_at(box, r, unit));
    }
    __syncwarp();
}

/// Stores 16 rows from `row` on and 128 bytes of each, from `col` on, of matrix `z`.
template <class D, class V>
DEVICE void store_values(const NativeArgs& x, Staging& staging, const V (&v)[sums_of_box<D>], uint32_t row,
                         uint32_t col, uint32_t z) {
    const uint32_t box = staging.address + staging.box * (staging_bytes / 2);
    staging.box ^= 1;
    if (staging.lane == 0) wait_until_stores_have_read<1>();
    __syncwarp();
    fill_box<D>(box, staging.lane, v);
    publish_to_engine();
    __syncwarp();
    if (staging.lane == 0) store_box(x.d, box, col, row, z);
}

/// Stores alpha times the sums of a warp: 16 rows from `row` on, 2 count columns from `col` on.
template <class D, class V, int count>
DEVICE void store_sums(const NativeArgs& x, Staging& staging, const V (&sums)[count], V alpha, uint32_t row,
                       uint32_t col, uint32_t z) {
    constexpr int of_box = sums_of_box<D>;
#pragma unroll
    for (int first = 0; first < count; first += of_box) {
        V v[of_box];
#pragma unroll
        for (int i = 0; i < of_box; ++i) v[i] = alpha * sums[first + i];
        store_values<D>(x, staging, v, row, col + 2 * first, z);
    }
}

}  // namespace vkgemm::native
