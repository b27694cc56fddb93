// SPDX-License-Identifier: MIT
// How finished elements are written to D, or bare sums to the workspace. gemm.glsl includes this.
#ifndef VKGEMM_STORE_GLSL
#define VKGEMM_STORE_GLSL

uint index_partial(uint row, uint col) { return ((slice * args.batch + batch) * args.m + row) * args.n + col; }

bool is_in_d(uint row, uint col) { return inside(row, col, args.m, args.n) && HAS_ROW(row); }

// For f64 from int8, bare sums are written as remainders.
#if defined(TYPE_A_IS_I8) && defined(TYPE_D_IS_I32) && !defined(VKGEMM_GROUPED)
#include "common/remainders.glsl"
const bool AS_REMAINDERS = PARTIAL != 0 && FORMAT_D == VKGEMM_TYPE_U8;
#define IF_REMAINDERS(statement) if (AS_REMAINDERS) { statement } else
#else
#define IF_REMAINDERS(statement)
#endif

// Writes one element of D; outside D nothing is written.
void store_d(uint row, uint col, acc_t sum) {
    const bool in_d = is_in_d(row, col);
    IF_REMAINDERS(if (in_d) store_remainder(row, col, sum);)
    if (PARTIAL != 0) {
        if (in_d) ONE_FROM(partial, args.d, index_partial(row, col)) = STORE(ACC, sum);
    } else {
        read_scalars();
        const uint r = in_d ? ROW_OF_D(row) : 0, at = in_d ? col : 0;
        const out_t value = finished(r, at, sum, c_of(r, at), residual_of(r, at));
        if (in_d) put_d(index_d(r, col), value);
        monitor(in_d ? size_of(value) : 0);
    }
}

// The functions below do the same for four columns from col on, which are D_STEP apart. If D_STEP is 1, col is a
// multiple of 4, and all four columns of a wide D are inside it or none is. A family that defines D_STEP makes it 1
// where D or bare sums are written by fours.
const bool IN_FOURS = (ALIGNED & WIDE_D) != 0;
#ifndef D_STEP
#define D_STEP 1
#endif
const uint STEP_OF_D = D_STEP;
const uint ONE_BY_ONE_C = TRANS_C + FORMAT_C + (~ALIGNED & (WIDE_C | WIDE_D));  // 0: they are read by fours
const uint ONE_BY_ONE_RESIDUAL = FORMAT_RESIDUAL + (~ALIGNED & WIDE_D);

void store_partial4(uint row, uint col, acc4_t sum) {
    IF_REMAINDERS(if (is_in_d(row, col)) store_remainders(row, col, sum);)
    if (WHOLE != 0) {  // so n is a multiple of 4
        SET_FOUR(partial, ACC, args.d, index_partial(row, col), sum)
    } else {
        [[unroll]] for (uint j = 0; j < 4; ++j)
            if (is_in_d(row, col + j * STEP_OF_D))
                ONE_FROM(partial, args.d, index_partial(row, col + j * STEP_OF_D)) = STORE(ACC, sum[j]);
    }
}

// Finishes four elements, and writes them unless D is wide: then the caller does.
out4_t finish_d4(uint row, uint col, acc4_t sum) {
    const bool in_d = is_in_d(row, col);
    const uint r = in_d ? ROW_OF_D(row) : 0, first = in_d ? col : 0;
    read_scalars();
    out4_t value, c = out4_t(0), residual = out4_t(0);
    if (ONE_BY_ONE_C == 0 && reads_c()) c = c_at4(index_c(r, first));
    if (ONE_BY_ONE_RESIDUAL == 0 && RESIDUALS != 0) residual = residual_at4(index_d(r, first));
    uint size = 0;
    [[unroll]] for (uint j = 0; j < 4; ++j) {
        const bool inside_d = IN_FOURS ? in_d : is_in_d(row, col + j * STEP_OF_D);
        const uint at = inside_d ? col + j * STEP_OF_D : 0;
        if (ONE_BY_ONE_C != 0) c[j] = c_of(r, at);
        if (ONE_BY_ONE_RESIDUAL != 0) residual[j] = residual_of(r, at);
        value[j] = finished(r, at, sum[j], c[j], residual[j]);
        if (!IN_FOURS && inside_d) put_d(index_d(r, col + j * STEP_OF_D), value[j]);
        size = max(size, inside_d ? size_of(value[j]) : 0);
    }
    monitor(size);
    return value;
}

void store_d4(uint row, uint col, acc4_t sum) {
    if (PARTIAL != 0) {
        store_partial4(row, col, sum);
    } else {
        const out4_t value = finish_d4(row, col, sum);
        if (IN_FOURS && is_in_d(row, col)) put_d4(index_d(ROW_OF_D(row), col), value);
    }
}

#endif
