// SPDX-License-Identifier: MIT
// The first pass of wgmma_split.cuh: splits the elements of an f32 operand into parts, and writes each part to the
// workspace as rows along k (native/parts.h). A block takes BM rows: a tile of BN of k, or all of them one tile after
// another where rows are scaled, because it first looks for the largest element of each.
#pragma once
#include "native/elements.cuh"
#include "native/parts.h"

namespace vkgemm::native {

/// Four elements that are neighbours along k, in parts: two words each.
struct F16Parts {
    static constexpr uint32_t parts = 2;
    static constexpr bool scaled = true;

    DEVICE static f32 scale(f32 x, int up) { return x * __int_as_float((up + 127) << 23); }
    DEVICE static uint32_t first(f32& x) {
        const __half h = __float2half_rn(x);
        x = (__float_as_uint(x) & 0x7fffffff) < 0x7f800000 ? x - __half2float(h) : 0;
        return __half_as_ushort(h);
    }
};
struct Bf16Parts {
    static constexpr uint32_t parts = 3;
    static constexpr bool scaled = false;

    DEVICE static f32 scale(f32 x, int) { return x; }
    /// Rounded, unless that would make it infinite. Infinity and NaN have no other parts.
    DEVICE static uint32_t first(f32& x) {
        const uint32_t bits = __float_as_uint(x), size = bits & 0x7fffffff;
        const uint32_t quiet = size > 0x7f800000 ? 0x400000 : 0, up = size < 0x7f7f8000 ? 0x8000 : 0;
        const uint32_t head = (bits + up | quiet) & 0xffff0000;
        x = size < 0x7f800000 ? (x - __uint_as_float(head)) * 256 : 0;
        return head >> 16;
    }
};

template <class Split, uint32_t BM, uint32_t BN, bool along_k>
struct PackParts {
    static constexpr uint32_t threads = 256, pitch = BN + 4, loads = BM * BN / 4 / threads;
    static_assert(BM % 4 == 0 && BN % 64 == 0 && BM * BN % (4 * threads) == 0 && (!along_k || BN / 4 % 32 == 0));

    struct Shared {
        f32 cell[BM * pitch];
        uint32_t greatest[BM];
    };
    static_assert(sizeof(Shared) == pack_parts_shared_bytes(BM, BN));
    const NativeArgs& x;
    Shared& shared;
    uint32_t row0 = 0, batch = 0;

    struct At {
        uint32_t row, k;  // of the first of four, which are neighbours in memory
    };
    DEVICE static At place(uint32_t i) {
        const uint32_t e = i * threads + threadIdx.x;
        return along_k ? At{e / (BN / 4), e % (BN / 4) * 4} : At{e % (BM / 4) * 4, e / (BM / 4)};
    }

    /// Four elements; those outside are 0.
    DEVICE float4 fetch(At at, uint32_t k0) const {
        const abi::GemmArgs& g = x.args;
        const uint32_t row = row0 + at.row, k = k0 + at.k;
        const uint64_t begin =
            address_of(g.a) +
            4 * (uint64_t{batch} * g.batch_a + (along_k ? uint64_t{row} * g.lda + k : uint64_t{k} * g.lda + row));
        if (x.constants[ALIGNED] & WIDE_A)
            return row < g.m && k < g.k ? *reinterpret_cast<const float4*>(begin) : float4{};
        f32 v[4];
#pragma unroll
        for (uint32_t i = 0; i < 4; ++i)
            v[i] = row + (along_k ? 0 : i) < g.m && k + (along_k ? i : 0) < g.k ? reinterpret_cast<const f32*>(begin)[i]
                                                                                : 0;
        return make_float4(v[0], v[1], v[2], v[3]);
    }

    DEVICE static uint32_t finite_size(f32 v) {
        const uint32_t size = __float_as_uint(v) & 0x7fffffff;
        return size < 0x7f800000 ? size : 0;
    }
    /// The exponent of a row's factor, which brings its largest element to between 2^14 and 2^15.
    DEVICE int exponent(uint32_t row) const { return min(141 - static_cast<int>(shared.greatest[row] >> 23), 126); }

    DEVICE void measure() const {
        if (threadIdx.x < BM) shared.greatest[threadIdx.x] = 0;
        __syncthreads();
        uint32_t most[loads][along_k ? 1 : 4] = {};
#pragma unroll 4
        for (uint32_t k0 = 0; k0 < x.args.k; k0 += BN)
#pragma unroll
            for (uint32_t i = 0; i < loads; ++i) {
                const float4 v = fetch(place(i), k0);
                const uint32_t sizes[] = {finite_size(v.x), finite_size(v.y), finite_size(v.z), finite_size(v.w)};
#pragma unroll
                for (uint32_t e = 0; e < 4; ++e) most[i][along_k ? 0 : e] = max(most[i][along_k ? 0 : e], sizes[e]);
            }
            // Lanes with the same rows: all of a warp, or those whose number is equal modulo BM / 4.
#pragma unroll
        for (uint32_t i = 0; i < loads; ++i)
#pragma unroll
            for (uint32_t e = 0; e < (along_k ? 1 : 4); ++e) {
                uint32_t& m = most[i][e];
#pragma unroll
                for (uint32_t d = 16; d >= (along_k ? 1 : BM / 4); d /= 2) m = max(m, __shfl_xor_sync(~0u, m, d));
                if (threadIdx.x % 32 < (along_k ? 1 : BM / 4)) atomicMax(&shared.greatest[place(i).row + e], m);
            }
        __syncthreads();
        if (threadIdx.x < BM && row0 + threadIdx.x < x.args.m) {
            const abi::GemmArgs& g = x.args;
            const uint64_t end = 2 * g.batch * Split::parts * part_stride(g.m, g.ldd);
            const uint64_t line = batch * rows_of_parts(g.m) + row0 + threadIdx.x;
            reinterpret_cast<int*>(address_of(g.d) + end)[line] = -exponent(threadIdx.x);
        }
    }

    /// Splits the tile in shared memory.
    DEVICE void write(uint32_t k0) const {
        const abi::GemmArgs& g = x.args;
        const uint64_t part = part_stride(g.m, g.ldd);
#pragma unroll
        for (uint32_t i = 0; i < loads; ++i) {
            const uint32_t e = i * threads + threadIdx.x, row = e / (BN / 4), k = e % (BN / 4) * 4;
            if (row0 + row >= g.m || k0 + k >= g.ldd) continue;
            const float4 four = *reinterpret_cast<const float4*>(&shared.cell[row * pitch + k]);
            f32 v[4] = {four.x, four.y, four.z, four.w};
            if constexpr (Split::scaled) {
                const int up = exponent(row);
#pragma unroll
                for (f32& y : v) y = Split::scale(y, up);
            }
            const uint64_t at =
                address_of(g.d) + 2 * (batch * Split::parts * part + uint64_t{row0 + row} * g.ldd + k0 + k);
#pragma unroll
            for (uint32_t p = 0; p < Split::parts; ++p) {
                uint2 words;
                words.x = Split::first(v[0]);
                words.x |= Split::first(v[1]) << 16;
                words.y = Split::first(v[2]);
                words.y |= Split::first(v[3]) << 16;
                *reinterpret_cast<uint2*>(at + 2 * p * part) = words;
            }
        }
    }

    DEVICE void run() {
        const uint32_t tile = blockIdx.x % (x.tiles_m * x.tiles_n);
        batch = blockIdx.x / (x.tiles_m * x.tiles_n);
        if (batch >= x.args.batch) return;
        row0 = tile % x.tiles_m * BM;
        uint32_t k0 = tile / x.tiles_m * BN;
        if constexpr (Split::scaled) measure();
        float4 v[loads];
#pragma unroll
        for (uint32_t i = 0; i < loads; ++i) v[i] = fetch(place(i), k0);
        for (const uint32_t end = Split::scaled ? x.args.ldd : k0 + BN; k0 < end; k0 += BN) {
#pragma unroll
            for (uint32_t i = 0; i < loads; ++i) {
                const At at = place(i);
                f32* const to = &shared.cell[at.row * pitch + at.k];
                if (along_k)
                    *reinterpret_cast<float4*>(to) = v[i];
                else {
                    to[0] = v[i].x;
                    to[pitch] = v[i].y;
                    to[2 * pitch] = v[i].z;
                    to[3 * pitch] = v[i].w;
                }
            }
            __syncthreads();  // the tile is complete
            if (k0 + BN < end)
#pragma unroll
                for (uint32_t i = 0; i < loads; ++i) v[i] = fetch(place(i), k0 + BN);
            write(k0);
            __syncthreads();  // it has been read
        }
    }
};

// A kernel for each way in which neighbours in memory may differ: in k (n), or in the row (t).
#define PACK_PARTS_ONE(name, ...)                                                                         \
    extern "C" __global__ void __launch_bounds__(256, 4) name(const __grid_constant__ NativeArgs x) {     \
        PackParts<__VA_ARGS__>{x, reinterpret_cast<PackParts<__VA_ARGS__>::Shared&>(shared_cells)}.run(); \
    }
#define PACK_PARTS(name, ...)                   \
    extern __shared__ float4 shared_cells[];    \
    PACK_PARTS_ONE(name##_n, __VA_ARGS__, true) \
    PACK_PARTS_ONE(name##_t, __VA_ARGS__, false)

}  // namespace vkgemm::native
