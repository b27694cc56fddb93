// SPDX-License-Identifier: MIT
// A product on Hopper's warp-group matrix units. A block is persistent and has three warp groups: a producer, of which
// one thread has tiles of A and B copied into a ring of stages, and two consumers, each with 64 rows, or half the
// columns, of the tile of D, or every other stage. The producer runs ahead into the next tile while they finish one.
#pragma once
#include "native/finish.cuh"
#include "native/multiply_f64.cuh"
#include "native/remainders.cuh"

namespace vkgemm::native {

/// A place in the ring, and the parity of the round.
template <uint32_t STAGES>
struct RingPlace {
    uint32_t stage = 0, round = 0;

    DEVICE void advance() {
        if (++stage == STAGES) {
            stage = 0;
            round ^= 1;
        }
    }
};

template <class A, class D, uint32_t BM, uint32_t BN, uint32_t STAGES, bool a_along_k, bool b_along_k>
struct Product {
    static constexpr uint32_t BK = box_bytes / sizeof(A);
    static constexpr uint32_t a_bytes = BM * box_bytes, b_bytes = BN * box_bytes, stage_bytes = a_bytes + b_bytes;
    // Steps that the first consumer is ahead of the second, so that one multiplies while the other finishes. It pays
    // where a tile is long in the making; small ones are better begun at once.
    static constexpr uint32_t lead_steps = BN == 256 ? 2 : 0;
    using Sum = SumOf<A>;
    static constexpr bool by_warp = std::is_same_v<A, f64>;       // not by warp group: there are no such units
    static constexpr bool by_lines = std::is_same_v<A, fp8>;      // sums leave the units after every line of A and B
    static constexpr bool shares_rows = BM == 64;                 // the consumers have the same rows
    static constexpr bool shares_tile = shares_rows && BN <= 64;  // or even the whole tile: each has every other stage
    static constexpr uint32_t columns = shares_rows && !shares_tile ? BN / 2 : BN, sums_per_thread = columns / 2;
    static constexpr uint32_t readers = shares_tile ? consumer_warps / 2 : consumer_warps;  // of a stage
    static_assert((BM == 64 || BM == 128) && (columns % 64 == 0 || BN == 32) && columns <= 256);
    static constexpr bool has_gelu = sizeof(D) == 2 && BN == 256;  // code of its own, where it is used most

    const NativeArgs& x;
    uint32_t ring, staging, barriers;  // addresses
    DEVICE uint32_t full(uint32_t stage) const { return barriers + 16 * stage; }
    DEVICE uint32_t empty(uint32_t stage) const { return barriers + 16 * stage + 8; }
    DEVICE uint32_t a_tile(uint32_t stage) const { return ring + stage * stage_bytes; }
    DEVICE uint32_t b_tile(uint32_t stage) const { return a_tile(stage) + a_bytes; }

    DEVICE explicit Product(const NativeArgs& args, const void* shared) : x(args) {
        ring = (shared_address(shared) + swizzle_bytes - 1) / swizzle_bytes * swizzle_bytes;
        staging = ring + STAGES * stage_bytes;
        barriers = staging + consumer_warps * staging_bytes;
        asm volatile("" : "+r"(ring), "+r"(staging), "+r"(barriers));  // keep them, or they are found anew at every use
    }

    DEVICE void run() const {
        if (threadIdx.x == 0) {
            prefetch(x.a);
            prefetch(x.b);
            for (uint32_t s = 0; s < STAGES; ++s) {
                init_barrier(full(s), 1);
                init_barrier(empty(s), readers);
            }
            publish_barriers();
        }
        __syncthreads();
        if (__shfl_sync(~0u, threadIdx.x / 128, 0) == 0) {
            shrink_registers<40>();
            if (threadIdx.x == 0) produce();
        } else {
            grow_registers<232>();
            if constexpr (shares_tile)
                consume_together();
            else
                consume();
        }
    }

    /// `side` columns or rows of an operand, one box or one for every 64 of them.
    template <uint32_t side, bool along_k>
    DEVICE static void load_tile(uint32_t to, const TensorMap& map, uint32_t barrier, uint32_t first, uint32_t k,
                                 uint32_t batch) {
        if constexpr (along_k) {
            load_box(to, map, barrier, k, first, batch);
        } else {
#pragma unroll
            for (uint32_t i = 0; i < side / BK; ++i)
                load_box(to + i * BK * box_bytes, map, barrier, first + i * BK, k, batch);
        }
    }

    DEVICE void produce() const {
        RingPlace<STAGES> at;
        for (uint32_t work = blockIdx.x, count = work_count(x); work < count; work += gridDim.x) {
            const Place place = place_of<BM, BN>(x, work);
            const Depth depth = depth_of(x, place.slice);
            const uint32_t batch_a = x.args.batch_a ? place.batch : 0, batch_b = x.args.batch_b ? place.batch : 0;
            for (uint32_t k = depth.begin; k < depth.end; k += BK, at.advance()) {
                wait(empty(at.stage), at.round ^ 1);
                const uint32_t barrier = full(at.stage);
                arrive_expecting(barrier, x.loaded_bytes);
                load_tile<BM, a_along_k>(a_tile(at.stage), x.a, barrier, place.row, k, batch_a);
                load_tile<BN, b_along_k>(b_tile(at.stage), x.b, barrier, place.col, k, batch_b);
            }
        }
    }

    DEVICE void consume() const {
        // Equal in all lanes of a warp, which the compiler is shown.
        const uint32_t warp = __shfl_sync(~0u, threadIdx.x / 32 - 4, 0), group = warp / 4, lane = threadIdx.x % 32;
        const uint32_t row = (shares_rows ? warp % 4 : warp) * 16, col = shares_rows ? group * columns : 0;
        Staging box = {staging + warp * staging_bytes, lane};
        // Of the first stage.
        const uint64_t a = descriptor(a_tile(0) + (shares_rows ? 0 : group * 64 * box_bytes), a_along_k);
        const uint64_t b = descriptor(b_tile(0) + (shares_rows ? group * columns * box_bytes : 0), b_along_k);
        constexpr bool is_scaled = std::is_same_v<D, scaled>, is_floating = std::is_same_v<D, floating>;
        const Finish<std::conditional_t<is_scaled, i32, D>> finish(x);
        const bool is_partial = x.constants[PARTIAL] != 0, is_plain = !is_scaled && finish.is_plain();
        bool is_gelu = false;
        if constexpr (has_gelu) is_gelu = finish.is_gelu();
        const bool staggered = lead_steps != 0 && x.args.k != 0, leads = group == 0 && staggered;
        if (group == 1 && staggered) await_announcement();
        RingPlace<STAGES> at;
        Sum sums[sums_per_thread];
        for (uint32_t work = blockIdx.x, count = work_count(x); work < count; work += gridDim.x) {
            const Depth depth = depth_of(x, slice_of(x, work));
            if constexpr (by_warp)
                sum_by_warp(sums, at, depth, warp, lane);
            else if constexpr (by_lines)
                sum_by_lines(sums, at, depth, a, b, lane, leads && work == blockIdx.x);
            else
                sum(sums, at, depth, a, b, lane, leads && work == blockIdx.x);
            // Found only now, while the last products are still under way.
            const Place place = place_of<BM, BN>(x, work);
            uint32_t bias[sums_per_thread / 4];
            if constexpr (has_gelu)
                if (is_gelu) finish.load_bias(bias, place.col + col + lane % 4 * 2);
            if constexpr (!by_warp && !by_lines) {
                wait_for_products<0>();
                take(sums);
                if (depth.end > depth.begin && lane == 0) arrive(empty((at.stage + STAGES - 1) % STAGES));
            }
            const uint32_t z = place.slice * x.args.batch + place.batch, d_row = place.row + row,
                           d_col = place.col + col;
            if (stored_remainders(box, sums, d_row, d_col, z, place.batch)) continue;
            if constexpr (is_floating) {
                if (is_plain)
                    store_sums_as(is_partial ? VKGEMM_TYPE_F32 : x.constants[FORMAT_D], box, sums,
                                  is_partial ? Sum{1} : finish.scalars.alpha, d_row, d_col, z);
                else
                    finish.finish_all(box, sums, d_row, d_col, place);
            } else if constexpr (is_scaled)
                finish_scaled(x, box, sums, d_row, d_col, place);
            else if (is_plain && is_partial)
                store_sums<Sum>(x, box, sums, Sum{1}, d_row, d_col, z);
            else if (is_plain)
                store_sums<D>(x, box, sums, finish.scalars.alpha, d_row, d_col, z);
            else if (!is_gelu)
                finish.finish_all(box, sums, d_row, d_col, place);
            else if constexpr (has_gelu)
                finish.finish_gelu(box, sums, bias, d_row, d_col, z);
        }
        if (lane == 0) wait_until_stores_have_read<0>();  // shared memory ends with the block
    }

    /// Whether the sums are for join_int8, which has their remainders then.
    DEVICE bool stored_remainders(const Staging& box, const Sum (&sums)[sums_per_thread], uint32_t row, uint32_t col,
                                  uint32_t z, uint32_t batch) const {
        if constexpr (std::is_same_v<D, i32>) {
            if (x.constants[FORMAT_D] != VKGEMM_TYPE_U8) return false;
            store_remainders(x, box, sums, row, col, z, batch);
            return true;
        }
        return false;
    }

    DEVICE void store_sums_as(uint32_t type, Staging& box, const Sum (&sums)[sums_per_thread], Sum alpha, uint32_t row,
                              uint32_t col, uint32_t z) const {
        if (type == VKGEMM_TYPE_F32)
            store_sums<f32>(x, box, sums, alpha, row, col, z);
        else if (type == VKGEMM_TYPE_F16)
            store_sums<f16>(x, box, sums, alpha, row, col, z);
        else
            store_sums<bf16>(x, box, sums, alpha, row, col, z);
    }

    /// Of a tile that both groups share, the first adds up the even stages and the second the odd ones. The first
    /// finishes it.
    DEVICE void consume_together() const {
        static_assert(STAGES % 2 == 0 && sizeof(A) == 2);  // no remainders of int8, lines of fp8, or warps of f64
        const uint32_t warp = __shfl_sync(~0u, threadIdx.x / 32 - 4, 0), group = warp / 4, lane = threadIdx.x % 32;
        const uint64_t a = descriptor(a_tile(0), a_along_k), b = descriptor(b_tile(0), b_along_k);
        const Finish<D> finish(x);
        RingPlace<STAGES> at;
        Sum sums[sums_per_thread];
        Staging box = {staging + warp * staging_bytes, lane};  // of the first group
        const uint32_t exchanged = staging + 4 * staging_bytes + threadIdx.x % 128 * 4;
        static_assert(sums_per_thread * 512 <= 4 * staging_bytes);
        const bool is_plain = finish.is_plain();
        for (uint32_t work = blockIdx.x, count = work_count(x); work < count; work += gridDim.x) {
            sum_own_stages(sums, at, depth_of(x, slice_of(x, work)), a, b, group, lane);
            if (group == 1) {
#pragma unroll
                for (uint32_t i = 0; i < sums_per_thread; ++i) store_one(exchanged + i * 512, bits_of(sums[i]));
            }
            await_each_other();
            if (group == 0) {
#pragma unroll
                for (uint32_t i = 0; i < sums_per_thread; ++i) sums[i] += load_one(exchanged + i * 512);
            }
            await_each_other();  // before the second group writes the next
            if (group == 1) continue;
            const Place place = place_of<BM, BN>(x, work);
            const uint32_t z = place.slice * x.args.batch + place.batch, row = place.row + warp * 16;
            if constexpr (BN < 64)
                finish.finish_few(sums, row + lane / 4, place.col + lane % 4 * 2, place);
            else if (is_plain && x.constants[PARTIAL] != 0)
                store_sums<Sum>(x, box, sums, Sum{1}, row, place.col, z);
            else if (is_plain)
                store_sums<D>(x, box, sums, finish.scalars.alpha, row, place.col, z);
            else
                finish.finish_all(box, sums, row, place.col, place);
        }
        if (lane == 0) wait_until_stores_have_read<0>();
    }
    DEVICE void sum_own_stages(Sum (&sums)[sums_per_thread], RingPlace<STAGES>& at, const Depth& depth, uint64_t a,
                               uint64_t b, uint32_t group, uint32_t lane) const {
#pragma unroll
        for (Sum& s : sums) s = 0;
        uint32_t last = STAGES;
        for (uint32_t k = depth.begin; k < depth.end; k += BK, at.advance()) {
            if (at.stage % 2 != group) continue;
            wait(full(at.stage), at.round);
            const uint64_t stage = at.stage * (stage_bytes >> 4);
            begin_multiplying();
#pragma unroll
            for (uint32_t i = 0; i < 4; ++i)
                Multiply<A, sums_per_thread>::template run<a_along_k, b_along_k>(
                    sums, a + stage + i * next_k(a_along_k), b + stage + i * next_k(b_along_k), true);
            commit_products();
            wait_for_products<1>();
            if (last != STAGES && lane == 0) arrive(empty(last));
            last = at.stage;
        }
        wait_for_products<0>();
        take(sums);
        if (last != STAGES && lane == 0) arrive(empty(last));
    }

    DEVICE void sum_by_warp(Sum (&sums)[sums_per_thread], RingPlace<STAGES>& at, const Depth& depth, uint32_t warp,
                            uint32_t lane) const {
        static_assert(a_along_k && b_along_k && !shares_rows);
#pragma unroll
        for (Sum& s : sums) s = 0;
        for (uint32_t k = depth.begin; k < depth.end; k += BK, at.advance()) {
            wait(full(at.stage), at.round);
            multiply_lines(sums, a_tile(at.stage) + warp * 16 * box_bytes, b_tile(at.stage), lane);
            __syncwarp();
            if (lane == 0) arrive(empty(at.stage));
        }
    }

    /// Adds up a slice of e4m3 or e5m2. The units keep 13 binary digits of a sum, so none stays there for more than the
    /// 128 of k in a line: it is added to others in f32. There are registers for 128 columns in the units at a time.
    /// While this group adds, the units work for the other.
    DEVICE void sum_by_lines(Sum (&sums)[sums_per_thread], RingPlace<STAGES>& at, const Depth& depth, uint64_t a,
                             uint64_t b, uint32_t lane, bool leads) const {
        static_assert(a_along_k && b_along_k && BK == 128);
        constexpr uint32_t count = sums_per_thread < 64 ? sums_per_thread : 64;
        const uint32_t types =
            2 * (x.constants[FORMAT_A] == VKGEMM_TYPE_E5M2) + (x.constants[FORMAT_B] == VKGEMM_TYPE_E5M2);
        const uint32_t steps = (depth.end - depth.begin + BK - 1) / BK, lead = min(lead_steps, steps);
        const uint32_t announced = leads ? depth.begin + (lead - 1) * BK : ~0u;
#pragma unroll
        for (Sum& s : sums) s = 0;
        for (uint32_t k = depth.begin; k < depth.end; k += BK, at.advance()) {
            wait(full(at.stage), at.round);
            const uint64_t stage = at.stage * (stage_bytes >> 4);
#pragma unroll
            for (uint32_t first = 0; first < sums_per_thread; first += count) {
                Sum line[count];
                multiply_line(line, a + stage, b + stage + (2 * first * box_bytes >> 4), types);
#pragma unroll
                for (uint32_t i = 0; i < count; ++i) sums[first + i] += line[i];
            }
            if (lane == 0) arrive(empty(at.stage));
            if (k == announced) announce();
        }
    }

    /// Adds up a slice, of operands whose descriptors in the first stage are a and b. The stage of the last step is
    /// still being read when it returns. If it `leads`, the other group begins some steps later.
    DEVICE void sum(Sum (&sums)[sums_per_thread], RingPlace<STAGES>& at, const Depth& depth, uint64_t a, uint64_t b,
                    uint32_t lane, bool leads) const {
        uint32_t last = 0;
        const uint32_t steps = (depth.end - depth.begin + BK - 1) / BK, lead = min(lead_steps, steps);
        const uint32_t announced = leads ? depth.begin + (lead - 1) * BK : ~0u;
        for (uint32_t k = depth.begin; k < depth.end; k += BK) {
            wait(full(at.stage), at.round);
            const uint64_t stage = at.stage * (stage_bytes >> 4);
            begin_multiplying();
#pragma unroll
            for (uint32_t i = 0; i < 4; ++i)  // 32 bytes of k
                Multiply<A, sums_per_thread>::template run<a_along_k, b_along_k>(
                    sums, a + stage + i * next_k(a_along_k), b + stage + i * next_k(b_along_k),
                    k != depth.begin || i != 0);
            commit_products();
            wait_for_products<1>();
            if (k != depth.begin && lane == 0) arrive(empty(last));
            last = at.stage;
            at.advance();
            if (k == announced) announce();
        }
    }
};

}  // namespace vkgemm::native
