// SPDX-License-Identifier: MIT
// A product of f32 on Hopper's warp-group matrix units, which do not take f32. A first pass (pack_parts.cuh) has split
// each element into parts, whose products are added up by their size; what is below f32's own rounding is left out. As
// in wgmma.cuh a block is persistent, and one thread has tiles copied for two warp groups of 64 rows each.
//
// The units round sums towards zero. Therefore the products of first parts are added up in f32 outside of them after
// every 64 of k, while the units work on the smaller ones.
#pragma once
#include "native/parts.h"
#include "native/wgmma.cuh"

namespace vkgemm::native {

/// Two f16 hold an element but for 2^-23 of it. Rows of A and columns of B come multiplied by powers of two.
struct F16x2 {
    using Unit = f16;
    static constexpr uint32_t parts = 2;
};
/// Three bf16 hold an element; the second comes 2^8 times too large, the third 2^16 times.
struct Bf16x3 {
    using Unit = bf16;
    static constexpr uint32_t parts = 3;
};

DEVICE bool is_finite(f32 x) { return (__float_as_uint(x) & 0x7fffffff) < 0x7f800000; }

DEVICE uint32_t word_at(uint64_t address) {
    uint32_t bits;
    asm volatile("ld.global.b32 %0, [%1];" : "=r"(bits) : "l"(address) : "memory");
    return bits;
}

template <class Split, uint32_t BN, uint32_t STAGES>
struct SplitProduct {
    using Unit = typename Split::Unit;
    static constexpr uint32_t BM = 128, BK = box_bytes / sizeof(Unit), parts = Split::parts;
    // A stage holds one part of A and one of B; a step of k takes as many stages as there are parts.
    static constexpr uint32_t a_bytes = BM * box_bytes, stage_bytes = (BM + BN) * box_bytes;
    static constexpr uint32_t rounds = STAGES / parts, step_bytes = parts * stage_bytes;
    static constexpr int count = BN / 2;  // sums of a thread
    static_assert(STAGES % parts == 0 && BN % 64 == 0 && BN <= 128);
    using Sums = f32[count];

    const NativeArgs& x;
    uint32_t ring, staging, barriers;  // addresses
    DEVICE uint32_t full(uint32_t step, uint32_t part) const { return barriers + 16 * (step * parts + part); }
    DEVICE uint32_t empty(uint32_t step) const { return full(step, 0) + 8; }

    DEVICE explicit SplitProduct(const NativeArgs& args, const void* shared) : x(args) {
        ring = (shared_address(shared) + swizzle_bytes - 1) / swizzle_bytes * swizzle_bytes;
        staging = ring + STAGES * stage_bytes;
        barriers = staging + consumer_warps * staging_bytes;
        asm volatile("" : "+r"(ring), "+r"(staging), "+r"(barriers));
    }

    DEVICE void run() const {
        if (threadIdx.x == 0) {
            prefetch(x.a);
            prefetch(x.b);
            for (uint32_t s = 0; s < rounds; ++s) {
                for (uint32_t p = 0; p < parts; ++p) init_barrier(full(s, p), 1);
                init_barrier(empty(s), consumer_warps);
            }
            publish_barriers();
        }
        __syncthreads();
        if (__shfl_sync(~0u, threadIdx.x / 128, 0) == 0) {
            shrink_registers<24>();
            if (threadIdx.x == 0) produce();
        } else {
            grow_registers<240>();
            consume();
        }
    }

    DEVICE void produce() const {
        RingPlace<rounds> at;
        for (uint32_t work = blockIdx.x, works = work_count(x); work < works; work += gridDim.x) {
            const Place place = place_of<BM, BN>(x, work);
            const Depth depth = depth_of(x, place.slice);
            const uint32_t a = (x.args.batch_a ? place.batch : 0) * parts,
                           b = (x.args.batch_b ? place.batch : 0) * parts;
            for (uint32_t k = depth.begin; k < depth.end; k += BK, at.advance()) {
                wait(empty(at.stage), at.round ^ 1);
#pragma unroll
                for (uint32_t p = 0; p < parts; ++p) {
                    const uint32_t barrier = full(at.stage, p), to = ring + at.stage * step_bytes + p * stage_bytes;
                    arrive_expecting(barrier, stage_bytes);
                    load_box(to, x.a, barrier, k, place.row, a + p);
                    load_box(to + a_bytes, x.b, barrier, k, place.col, b + p);
                }
            }
        }
    }

    DEVICE void consume() const {
        const uint32_t warp = __shfl_sync(~0u, threadIdx.x / 32 - 4, 0), lane = threadIdx.x % 32;
        Staging box = {staging + warp * staging_bytes, lane};
        const uint64_t a = descriptor(ring + warp / 4 * 64 * box_bytes, true), b = descriptor(ring + a_bytes, true);
        const Finish<f32> finish(x);
        const bool is_plain = finish.is_plain(), is_partial = x.constants[PARTIAL] != 0;
        RingPlace<rounds> at;
        for (uint32_t work = blockIdx.x, works = work_count(x); work < works; work += gridDim.x) {
            const Depth depth = depth_of(x, slice_of(x, work));
            Sums sums;
            sum(sums, at, depth, a, b, lane);
            const Place place = place_of<BM, BN>(x, work);
            const uint32_t row = place.row + warp * 16;
            if (depth.end > depth.begin) complete(sums, depth, place, row, lane);
            if (is_plain)
                store_sums<f32>(x, box, sums, is_partial ? 1.f : finish.scalars.alpha, row, place.col,
                                place.slice * x.args.batch + place.batch);
            else
                finish.finish_all(box, sums, row, place.col, place);
        }
        if (lane == 0) wait_until_stores_have_read<0>();  // shared memory ends with the block
    }

    /// Part i of A times part j of B.
    DEVICE static void multiply(Sums& d, uint64_t a, uint64_t b, uint32_t i, uint32_t j, bool adds) {
        constexpr uint64_t next_part = stage_bytes >> 4;
#pragma unroll
        for (uint32_t at = 0; at < 4; ++at)  // 32 bytes of k
            Multiply<Unit, count>::template run<true, true>(d, a + i * next_part + at * next_k(true),
                                                            b + j * next_part + at * next_k(true), adds || at != 0);
    }
    /// Takes what is `now` in the units, all of whose products are done, into the sums.
    DEVICE static void add(Sums& sums, Sums& now, f32 factor) {
        take(now);
#pragma unroll
        for (int i = 0; i < count; ++i) sums[i] = factor == 1 ? sums[i] + now[i] : fmaf(now[i], factor, sums[i]);
    }

    /// Adds up a slice. No more than one group of products is ahead of those that are waited for, so that the units
    /// have work while sums are added.
    DEVICE void sum(Sums& sums, RingPlace<rounds>& at, const Depth& depth, uint64_t first_a, uint64_t first_b,
                    uint32_t lane) const {
        Sums now, small;
#pragma unroll
        for (f32& s : sums) s = 0;
        uint32_t last = 0;
        for (uint32_t k = depth.begin; k < depth.end; k += BK) {
            const uint64_t step = at.stage * (step_bytes >> 4), a = first_a + step, b = first_b + step;
            const bool is_next = k != depth.begin;
            wait(full(at.stage, 0), at.round);
            begin_multiplying();
            multiply(now, a, b, 0, 0, false);
            commit_products();
            wait_for_products<1>();  // those of the step before are done
            if (is_next && lane == 0) arrive(empty(last));
            wait(full(at.stage, 1), at.round);
            if constexpr (parts == 2) {
                begin_multiplying();
                multiply(small, a, b, 0, 1, is_next);
                multiply(small, a, b, 1, 0, true);
                commit_products();
                wait_for_products<1>();
                add(sums, now, 1);
            } else {
                begin_multiplying();
                multiply(small, a, b, 1, 1, is_next);
                commit_products();
                wait_for_products<1>();
                add(sums, now, 1);
                begin_multiplying();
                multiply(now, a, b, 0, 1, false);
                multiply(now, a, b, 1, 0, true);
                commit_products();
                wait(full(at.stage, 2), at.round);
                begin_multiplying();
                multiply(small, a, b, 0, 2, true);
                multiply(small, a, b, 2, 0, true);
                commit_products();
                wait_for_products<1>();
                add(sums, now, 0x1p-8f);
            }
            last = at.stage;
            at.advance();
        }
        wait_for_products<0>();
        take(small);
        if (depth.end > depth.begin && lane == 0) arrive(empty(last));
            // A sum of first parts that is not finite is what IEEE arithmetic gives.
#pragma unroll
        for (int i = 0; i < count; ++i) {
            if constexpr (parts == 2)
                sums[i] = is_finite(sums[i]) ? sums[i] + small[i] : sums[i];
            else
                sums[i] = fmaf(small[i], 0x1p-16f, sums[i]);
        }
    }

    /// Of a thread, sums of 16 rows from `row` on.
    DEVICE void complete(Sums& sums, const Depth& depth, const Place& place, uint32_t row, uint32_t lane) const {
        if constexpr (parts == 2)
            unscale(sums, place, row + lane / 4, place.col + lane % 4 * 2);
        else
            mend(sums, depth, place, row, lane);
    }

    /// The element (row, 0) of part 0 of A, or of B, whose rows are along k.
    DEVICE uint64_t row_of(bool is_a, uint32_t row, uint32_t batch) const {
        const abi::GemmArgs& g = x.args;
        const uint32_t rows = is_a ? g.m : g.n, ld = is_a ? g.lda : g.ldb,
                       of_batch = (is_a ? g.batch_a : g.batch_b) ? batch : 0;
        return address_of(is_a ? g.a : g.b) +
               sizeof(Unit) * (of_batch * parts * part_stride(rows, ld) + uint64_t{row} * ld);
    }
    /// The exponent that undoes the factor of a row, which is at the end of all parts.
    DEVICE int exponent_of(bool is_a, uint32_t row, uint32_t batch) const {
        const abi::GemmArgs& g = x.args;
        const uint32_t rows = is_a ? g.m : g.n, ld = is_a ? g.lda : g.ldb;
        const bool is_batch = (is_a ? g.batch_a : g.batch_b) != 0;
        const uint64_t end = sizeof(Unit) * (is_batch ? g.batch : 1) * parts * part_stride(rows, ld);
        const uint64_t line = (is_batch ? batch : 0) * rows_of_parts(rows) + min(row, rows - 1);
        return static_cast<int>(word_at(address_of(is_a ? g.a : g.b) + end + 4 * line));
    }

    /// Takes back the factors, in two steps, because a power of two may be too large for one.
    DEVICE void unscale(Sums& sums, const Place& place, uint32_t row, uint32_t col) const {
        const int of_rows[] = {exponent_of(true, row, place.batch), exponent_of(true, row + 8, place.batch)};
#pragma unroll
        for (int i = 0; i < count; i += 4) {
            const int of_cols[] = {exponent_of(false, col + 2 * i, place.batch),
                                   exponent_of(false, col + 2 * i + 1, place.batch)};
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                const int up = of_rows[e / 2] + of_cols[e % 2], half = up >> 1;
                sums[i + e] =
                    sums[i + e] * __int_as_float((half + 127) << 23) * __int_as_float((up - half + 127) << 23);
            }
        }
    }

    /// Computes each sum that is not finite again, in f32: it may be so because a part is kept too large, or because
    /// infinity times the part of a number is not what it is times the number.
    DEVICE void mend(Sums& sums, const Depth& depth, const Place& place, uint32_t row, uint32_t lane) const {
        bool all_finite = true;
#pragma unroll
        for (int i = 0; i < count; ++i) all_finite = all_finite && is_finite(sums[i]);
        if (__all_sync(~0u, all_finite)) return;
            // The sums move through the first register, because registers have no numbers at run time.
#pragma unroll 1
        for (int i = 0; i < count; ++i) {
            f32 s = sums[0];
            for (uint32_t rest = __ballot_sync(~0u, !is_finite(s)); rest; rest &= rest - 1) {
                const uint32_t of = __ffs(rest) - 1;  // the lane whose sum all of them compute
                const uint32_t r = row + of / 4 + i % 4 / 2 * 8, c = place.col + i / 4 * 8 + of % 4 * 2 + i % 2;
                const f32 again = r < x.args.m && c < x.args.n ? sum_again(r, c, place.batch, depth, lane) : 0;
                if (lane == of) s = again;
            }
#pragma unroll
            for (int j = 0; j + 1 < count; ++j) sums[j] = sums[j + 1];
            sums[count - 1] = s;
        }
    }
    /// All lanes return the sum.
    DEVICE f32 sum_again(uint32_t row, uint32_t col, uint32_t batch, const Depth& depth, uint32_t lane) const {
        const uint64_t a = row_of(true, row, batch), b = row_of(false, col, batch);
        const uint64_t next_a = sizeof(Unit) * part_stride(x.args.m, x.args.lda),
                       next_b = sizeof(Unit) * part_stride(x.args.n, x.args.ldb);
        f32 s = 0;
#pragma unroll 1
        for (uint32_t k = depth.begin + 2 * lane; k < depth.end; k += 64) {  // two elements in a word
            f32 u[2] = {}, v[2] = {};
            f32 factor = 1;
#pragma unroll
            for (uint32_t p = 0; p < parts; ++p, factor *= 0x1p-8f) {
                const uint32_t from_a = word_at(a + p * next_a + 2 * k), from_b = word_at(b + p * next_b + 2 * k);
                u[0] += factor * __uint_as_float(from_a << 16);
                u[1] += factor * __uint_as_float(from_a & 0xffff0000);
                v[0] += factor * __uint_as_float(from_b << 16);
                v[1] += factor * __uint_as_float(from_b & 0xffff0000);
            }
            s = fmaf(u[0], v[0], s);
            if (k + 1 < depth.end) s = fmaf(u[1], v[1], s);
        }
#pragma unroll
        for (uint32_t d = 16; d; d /= 2) s += __shfl_xor_sync(~0u, s, d);
        return s;
    }
};

}  // namespace vkgemm::native
