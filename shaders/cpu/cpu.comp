// SPDX-License-Identifier: MIT
// For CPU drivers, where a subgroup is a vector register, a work group runs on one thread, and shared memory is memory
// like any other: no barriers and no copies. It grows from `naive`: an invocation computes TM rows of TN columns of D.
//
//                  B                           one block of straight code, BK steps of K deep:
//            +----------------+
//         BK |xxxxxxxx        | k                1  BK vectors of B are loaded, for each of the TN columns
//            +----------------+                  2  for 8 rows at a time: BK elements of each, from A,
//              lanes ->                             spread over the lanes, times those vectors
//       A      D                                 3  the next 8 rows, until TM are done
//     +----+ +----------------+
//     | aaa| |########        | 8 rows         work group: BM = TM rows, BN = WG * TN columns
//     | aaa| |########        | abreast        invocation: a lane; neighbours have neighbouring columns
//     |    | |                |
//     +----+ +----------------+
//
// A vector of B is one gather; an element of A is the same for all lanes. Such a driver masks every variable of a loop
// in every iteration, so there are few iterations. Loops test at their end, because one that tests at its beginning
// performs loads of uniform addresses once too often.
#extension GL_GOOGLE_include_directive : require
#include "common/gemm.glsl"
#include "cpu/rows.h"

const uint ABREAST = TM < CPU_ROWS ? TM : CPU_ROWS;  // rows whose chains of additions run side by side

acc_t sums[TM * TN];
uvec2 row_a[TM];    // A row-major: where its rows begin
uint place_a[TM];   // A column-major: how far down a column its rows are, from row0 on
uint at_b[TN];      // indices of this invocation's columns of B at k = 0

// The place `elements` after A's beginning.
uvec2 inside_a(uint elements) {
#ifdef VKGEMM_ADDRESSES
    uint high, low, carry;
    umulExtended(elements, BYTES(TYPE_A), high, low);
    low = uaddCarry(args.a.x, low, carry);
    return uvec2(low, args.a.y + high + carry);
#else
    return uvec2(args.a.x + elements, 0);
#endif
}

// Adds the products of `depth` steps from k on. at_a: the index of A's element at (row0, 0) where A is column-major;
// step_b: from an element of B to the one at k + 1.
void add(uint k, uint depth, uint at_a, uint step_b) {
    acc_t values_b[BK * TN];
    uvec2 column_a[BK];
    [[unroll]] for (uint q = 0; q < depth; ++q) {
        const uint along = (k + q) * step_b;
        [[unroll]] for (uint j = 0; j < TN; ++j) values_b[q * TN + j] = LOAD(TYPE_B, ONE(b, at_b[j] + along));
        if (TRANS_A != 0) column_a[q] = inside_a(at_a + (k + q) * args.lda);
    }
    [[unroll]] for (uint group = 0; group < TM / ABREAST; ++group)
        [[unroll]] for (uint q = 0; q < depth; ++q)
            [[unroll]] for (uint r = 0; r < ABREAST; ++r) {
                const uint i = group * ABREAST + r;
                acc_t value_a;
                if (TRANS_A != 0) value_a = LOAD(TYPE_A, ONE_FROM(a, column_a[q], place_a[i]));
                else value_a = LOAD(TYPE_A, ONE_FROM(a, row_a[i], k + q));
                [[unroll]] for (uint j = 0; j < TN; ++j) sums[i * TN + j] += value_a * values_b[q * TN + j];
            }
}

void main() {
    uint row0, col0;
    if (!tile_of(row0, col0)) return;
    const uint col = col0 + gl_LocalInvocationIndex;
    const uint at_a = batch * args.batch_a + (TRANS_A != 0 ? row0 : 0);
    const uint step_b = TRANS_B != 0 ? 1 : args.ldb;
    [[unroll]] for (uint j = 0; j < TN; ++j) {
        const uint near = nearest(col + j * WG, args.n);
        at_b[j] = batch * args.batch_b + (TRANS_B != 0 ? near * args.ldb : near);
    }
    [[unroll]] for (uint i = 0; i < TM * TN; ++i) sums[i] = acc_t(0);
    [[unroll]] for (uint i = 0; i < TM; ++i) {
        if (TRANS_A != 0) place_a[i] = WHOLE != 0 ? i : min(i, args.m - 1 - row0);
        else row_a[i] = inside_a(at_a + nearest(row0 + i, args.m) * args.lda);
    }
    uint k = k_begin;
    if (k + BK <= k_end) {
        do {
            add(k, BK, at_a, step_b);
            k += BK;
        } while (k + BK <= k_end);
    }
    if (k < k_end) {
        do add(k, 1, at_a, step_b);
        while (++k < k_end);
    }
    [[unroll]] for (uint i = 0; i < TM; ++i)
        [[unroll]] for (uint j = 0; j < TN; ++j) store_d(row0 + i, col + j * WG, sums[i * TN + j]);
}
