// SPDX-License-Identifier: MIT
// How finished elements are written to D, or bare sums to the workspace. gemm.glsl includes this.
#ifndef VKGEMM_STORE_GLSL
#define VKGEMM_STORE_GLSL

uint index_d(uint row, uint col) { return batch * args.batch_d + row * args.ldd + col; }

uint index_partial(uint row, uint col) { return ((slice * args.batch + batch) * args.m + row) * args.n + col; }

// Writes one element of D; outside D nothing is written.
void store_d(uint row, uint col, acc_t sum) {
    const bool in_d = inside(row, col, args.m, args.n) && HAS_ROW(row);
    if (PARTIAL != 0) {
        const uint at = ((slice * args.batch + batch) * args.m + row) * args.n + col;
        if (in_d) ONE_FROM(partial, args.d, at) = STORE(ACC, sum);
        return;
    }
    const uint r = in_d ? ROW_OF_D(row) : 0;
    const acc_t value = finished(r, in_d ? col : 0, sum);
    if (in_d) ONE(d, index_d(r, col)) = STORE(TYPE_D, value);
}

// Writes four neighbouring columns; col is a multiple of 4.
void store_d4(uint row, uint col, acc4_t sum) {
    if (PARTIAL != 0 && WHOLE != 0) {  // so n is a multiple of 4
        SET_FOUR(partial, ACC, args.d, index_partial(row, col), sum)
        return;
    }
    if ((ALIGNED & WIDE_D) == 0 || PARTIAL != 0) {
        [[unroll]] for (uint j = 0; j < 4; ++j) store_d(row, col + j, sum[j]);
        return;
    }
    const bool in_d = inside(row, col, args.m, args.n) && HAS_ROW(row);
    const uint r = in_d ? ROW_OF_D(row) : 0, c0 = in_d ? col : 0;
    const acc4_t value = acc4_t(finished(r, c0, sum.x), finished(r, c0 + 1, sum.y), finished(r, c0 + 2, sum.z),
                                finished(r, c0 + 3, sum.w));
    if (in_d) SET_FOUR(d, TYPE_D, args.d, index_d(r, col), value)
}

#endif
