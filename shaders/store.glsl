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
        if (in_d) ONE_FROM(partial, args.d, index_partial(row, col)) = STORE(ACC, sum);
    } else {
        read_scalars();
        const uint r = in_d ? ROW_OF_D(row) : 0;
        const out_t value = finished(r, in_d ? col : 0, sum);
        if (in_d) put_d(index_d(r, col), value);
        monitor(in_d ? size_of(value) : 0);
    }
}

// Writes four neighbouring columns; col is a multiple of 4. Where D is wide, all of them are inside it or none is.
void store_d4(uint row, uint col, acc4_t sum) {
    if (PARTIAL != 0 && WHOLE != 0) {  // so n is a multiple of 4
        SET_FOUR(partial, ACC, args.d, index_partial(row, col), sum)
    } else if (PARTIAL != 0) {
        [[unroll]] for (uint j = 0; j < 4; ++j)
            if (inside(row, col + j, args.m, args.n) && HAS_ROW(row))
                ONE_FROM(partial, args.d, index_partial(row, col + j)) = STORE(ACC, sum[j]);
    } else {
        const bool wide = (ALIGNED & WIDE_D) != 0, has_row = HAS_ROW(row);
        const bool in_d = inside(row, col, args.m, args.n) && has_row;
        const uint r = in_d ? ROW_OF_D(row) : 0;
        read_scalars();
        uint size = 0;
        out4_t value;
        [[unroll]] for (uint j = 0; j < 4; ++j) {
            const bool inside_d = wide ? in_d : inside(row, col + j, args.m, args.n) && has_row;
            value[j] = finished(r, inside_d ? col + j : 0, sum[j]);
            if (!wide && inside_d) put_d(index_d(r, col + j), value[j]);
            size = max(size, inside_d ? size_of(value[j]) : 0);
        }
        monitor(size);
        if (wide && in_d) put_d4(index_d(r, col), value);
    }
}

#endif
