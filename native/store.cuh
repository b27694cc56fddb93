// SPDX-License-Identifier: MIT
// Sums that need nothing but alpha, on their way to D by the copy engine. Each warp stores its own 16 rows, so that no
// barrier is needed: it fills one of two boxes in shared memory while the engine reads the other.
#pragma once
#include "native/multiply.cuh"
#include "native/work.cuh"

namespace vkgemm::native {

/// Shared memory where a warp lays out what it stores. `box` alternates from one box to the next.
struct Staging {
    uint32_t address, lane;
    uint32_t box = 0;
};

template <class D>
DEVICE uint32_t pair_of(float x, float y) {
    if constexpr (sizeof(D) != 2)
        return 0;
    else if constexpr (__is_same(D, f16)) {
        const __half2 both = __floats2half2_rn(x, y);
        return reinterpret_cast<const uint32_t&>(both);
    } else {
        const __nv_bfloat162 both = __floats2bfloat162_rn(x, y);
        return reinterpret_cast<const uint32_t&>(both);
    }
}

/// Writes 16 rows and 128 bytes of each from `sums`, beginning with the register `first`. A thread has, of every 8
/// columns, two neighbours in a row and two in the row 8 below.
template <class D, int count>
DEVICE void fill_box(uint32_t box, uint32_t lane, const float (&sums)[count], int first, float alpha) {
    const auto at = [&](int i) { return alpha * sums[first + i]; };
    if constexpr (sizeof(D) == 2) {
        const uint32_t row = lane % 16;
#pragma unroll
        for (int unit = 0; unit < 8; unit += 2) {  // of 16 bytes: the columns of one matrix
            const int i = unit * 4;
            const uint32_t pairs[] = {pair_of<D>(at(i), at(i + 1)), pair_of<D>(at(i + 2), at(i + 3)),
                                      pair_of<D>(at(i + 4), at(i + 5)), pair_of<D>(at(i + 6), at(i + 7))};
            store_matrices(box + row * box_bytes + ((unit + lane / 16) ^ row % 8) * 16, pairs);
        }
    } else {
        const uint32_t row = lane / 4, in_unit = lane % 2 * 8;
#pragma unroll
        for (int i = 0; i < 16; i += 4) {
            const uint32_t unit = i / 2 + lane % 4 / 2, to = box + row * box_bytes + (unit ^ row) * 16 + in_unit;
            store_two(to, at(i), at(i + 1));
            store_two(to + 8 * box_bytes, at(i + 2), at(i + 3));
        }
    }
}

/// Stores alpha times the sums of a warp: 16 rows from `row` on, 2 count columns from `col` on, of matrix `z`.
template <class D, int count>
DEVICE void store_boxes(const NativeArgs& x, Staging& staging, const float (&sums)[count], float alpha, uint32_t row,
                        uint32_t col, uint32_t z) {
    constexpr int columns = box_bytes / sizeof(D);
#pragma unroll
    for (int first = 0; first < 2 * count; first += columns) {
        const uint32_t box = staging.address + staging.box * (staging_bytes / 2);
        staging.box ^= 1;
        if (staging.lane == 0) wait_until_stores_have_read<1>();
        __syncwarp();
        fill_box<D>(box, staging.lane, sums, first / 2, alpha);
        publish_to_engine();
        __syncwarp();
        if (staging.lane == 0) store_box(x.d, box, col + first, row, z);
    }
}

}  // namespace vkgemm::native
