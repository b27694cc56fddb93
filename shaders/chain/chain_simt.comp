// SPDX-License-Identifier: MIT
// Several layers of a network in one dispatch, by ordinary arithmetic. A work group takes BM rows through all layers.
// Between two layers they wait in shared memory, as values that were rounded to their type; beside them are BK rows of
// the weights that are multiplied, while the next BK are on their way in registers.
//
//     A, from memory             weights of layer 0    of layer 1           D, from registers
//       +-- width ---+      BK { +--------+           +--------+            +---+
//    BM |            |   -->     |        |    -->    |        |  --> ...   |   |   invocation: 4 columns of every
//       +------------+           +--------+           +--------+            +---+   ROW_GROUPS-th row
#extension GL_GOOGLE_include_directive : require
#include "chain/chain.glsl"

#define FOURS(width) (((width) + 3) / 4)
const uint WIDEST = MAX_WIDTH / 4, ROW = WIDEST + 1;  // vectors; rows begin in other banks
shared vec4 rows[BM * ROW];
shared vec4 weights[BK * WIDEST];
const uint MOST_ROWS = (BM + WG / WIDEST - 1) / (WG / WIDEST), MOST_LOADS = (BK * WIDEST + WG - 1) / WG;
vec4 sums[MOST_ROWS], next[MOST_LOADS];

layout(buffer_reference, std430, buffer_reference_align = BYTES(TYPE_A)) restrict buffer Ones { STORED(TYPE_A) at[]; };
layout(buffer_reference, std430, buffer_reference_align = 4 * BYTES(TYPE_A)) restrict buffer Vectors {
    STORED4(TYPE_A) at[];
};

// Four elements from element `at` on, of which the first `count` exist: all or none if `wide`, unless `ragged`.
vec4 load_four(uvec2 from, uint at, uint count, bool wide, bool ragged) {
    vec4 x = vec4(0);
    if (wide && (!ragged || count == 4)) {
        if (count != 0) x = LOAD4(TYPE_A, Vectors(from).at[at / 4]);
    } else {
        [[unroll]] for (uint i = 0; i < 4; ++i)
            if (i < count) x[i] = LOAD(TYPE_A, Ones(from).at[at + i]);
    }
    return x;
}
void store_four(uvec2 to, uint at, uint count, bool wide, vec4 x) {
    if (wide) {
        if (count != 0) Vectors(to).at[at / 4] = STORE4(TYPE_A, x);
    } else {
        [[unroll]] for (uint i = 0; i < 4; ++i)
            if (i < count) Ones(to).at[at + i] = STORE(TYPE_A, x[i]);
    }
}

// Where an invocation works in a layer: vectors of columns beside each other, then rows that are so far apart.
#define ROW_GROUPS(l) (WG / FOURS(l.n))
#define ROWS_EACH(l) ((BM + ROW_GROUPS(l) - 1) / ROW_GROUPS(l))
uint four_of(const Layer l) { return gl_LocalInvocationIndex % FOURS(l.n); }
uint row_of(const Layer l, uint i) { return gl_LocalInvocationIndex / FOURS(l.n) + i * ROW_GROUPS(l); }
// Whether invocations and rows come out even. Then rows are at constant distances from one address.
bool is_even(const Layer l) { return ROW_GROUPS(l) * FOURS(l.n) == WG && ROW_GROUPS(l) * ROWS_EACH(l) == BM; }
bool has_row(const Layer l, uint i) {
    return is_even(l) || (gl_LocalInvocationIndex / FOURS(l.n) < ROW_GROUPS(l) && row_of(l, i) < BM);
}

void load_columns(uint row0) {
    for (uint e = gl_LocalInvocationIndex; e < 4 * FOURS(INPUTS) * (BM / 4); e += WG) {
        const uint col = e / (BM / 4), row = e % (BM / 4) * 4;
        const uint count = col < INPUTS ? count_inside(row0 + row, 4, ROWS_OF_A) : 0;
        const vec4 x = load_four(ADDRESS_A, col * LDA + row0 + row, count, WIDE_ROWS != 0, true);
        [[unroll]] for (uint i = 0; i < 4; ++i) rows[(row + i) * ROW + col / 4][col % 4] = x[i];
    }
}
void load_rows(uint row0) {
    const uint across = FOURS(INPUTS);
    for (uint e = gl_LocalInvocationIndex; e < BM * across; e += WG) {
        const uint row = e / across, col = e % across * 4;
        const uint count = row0 + row < ROWS_OF_A ? count_inside(col, 4, INPUTS) : 0;
        rows[row * ROW + col / 4] = load_four(ADDRESS_A, (row0 + row) * LDA + col, count, WIDE_ROWS != 0, false);
    }
}

// The weights from row k0 on: asked for, and put into shared memory.
void fetch_weights(const Layer l, uint k0) {
    const bool by_columns = (l.flags & CHAIN_TRANS_B) != 0, wide = (l.flags & CHAIN_WIDE_B) != 0;
    const uint across = by_columns ? BK / 4 : FOURS(l.n);
    [[unroll]] for (uint t = 0; t < MOST_LOADS; ++t) {
        const uint e = gl_LocalInvocationIndex + t * WG, line = e / across, at = e % across * 4;
        const uint k = k0 + (by_columns ? at : line), n = by_columns ? line : at;
        const uint count = k < l.k && n < l.n ? by_columns ? count_inside(k, 4, l.k) : count_inside(n, 4, l.n) : 0;
        if (by_columns || line < BK)
            next[t] = load_four(address(l.number, ARG_B), by_columns ? n * l.ldb + k : k * l.ldb + n, count, wide,
                                false);
    }
}
void put_weights(const Layer l) {
    const bool by_columns = (l.flags & CHAIN_TRANS_B) != 0;
    [[unroll]] for (uint t = 0; t < MOST_LOADS; ++t) {
        const uint e = gl_LocalInvocationIndex + t * WG;
        if (e >= (by_columns ? l.n * (BK / 4) : BK * FOURS(l.n))) continue;
        if (by_columns) {
            const uint n = e / (BK / 4), k = e % (BK / 4) * 4;
            [[unroll]] for (uint i = 0; i < 4; ++i) weights[(k + i) * FOURS(l.n) + n / 4][n % 4] = next[t][i];
        } else {
            weights[e] = next[t];
        }
    }
}

void multiply(const Layer l) {
    const uint four = four_of(l);
    [[dont_unroll]] for (uint k0 = 0; k0 < l.k; k0 += BK) {
        barrier();  // the rows are there, and no invocation reads the weights before
        put_weights(l);
        if (k0 + BK < l.k) fetch_weights(l, k0 + BK);
        barrier();
        const uint steps = min(BK, l.k - k0 + 3) / 4;
        for (uint k = 0; k < steps; ++k) {
            vec4 b[4];
            [[unroll]] for (uint i = 0; i < 4; ++i) b[i] = weights[(4 * k + i) * FOURS(l.n) + four];
            [[unroll]] for (uint i = 0; i < ROWS_EACH(l); ++i) {
                const uint row = is_even(l) ? row_of(l, i) : min(row_of(l, i), BM - 1);
                const vec4 a = rows[row * ROW + k0 / 4 + k];
                [[unroll]] for (uint j = 0; j < 4; ++j) sums[i] = fma(vec4(a[j]), b[j], sums[i]);
            }
        }
    }
}

// Four columns of a row of D, or of the residual.
vec4 load_residual(const Layer l, uint row, uint col, uint count) {
    const uvec2 from = address(l.number, ARG_RESIDUAL);
    vec4 x = vec4(0);
    if ((l.flags & CHAIN_TRANS_D) == 0)
        x = load_four(from, row * l.ldd + col, count, (l.flags & CHAIN_WIDE) != 0, false);
    else
        [[unroll]] for (uint i = 0; i < 4; ++i)
            if (i < count) x[i] = LOAD(TYPE_A, Ones(from).at[(col + i) * l.ldd + row]);
    return x;
}
void store_row(const Layer l, uint row, uint col, uint count, vec4 x) {
    const uvec2 d = address(l.number, ARG_D);
    if ((l.flags & CHAIN_TRANS_D) == 0) store_four(d, row * l.ldd + col, count, (l.flags & CHAIN_WIDE) != 0, x);
    else
        [[unroll]] for (uint i = 0; i < 4; ++i)
            if (i < count) Ones(d).at[(col + i) * l.ldd + row] = STORE(TYPE_A, x[i]);
}

// What becomes of four sums. Columns beyond the last are 0, because an infinity times the zeros of the next B is NaN.
vec4 finished(const Layer l, vec4 x, vec4 bias, vec4 residual, uint count) {
    const float alpha = alpha_of(l.number);
    if (alpha != 1) x = alpha == 0 ? bias : alpha * x + bias;
    [[unroll]] for (uint i = 0; i < 4; ++i) {
        if (has_residual(l)) x[i] = residual[i] <= 0 ? 0 : x[i];
        x[i] = i < count ? activated(l, x[i]) : 0;
    }
    return LOAD4(TYPE_A, STORED4(TYPE_A)(STORE4(TYPE_A, x)));
}

void compute(const Layer l, uint row0) {
    const uint col = four_of(l) * 4, count = count_inside(col, 4, l.n);
    const bool is_last = l.number + 1 == LAYERS;
    fetch_weights(l, 0);
    vec4 bias = vec4(0);
    if ((l.flags & CHAIN_BIAS) != 0)
        [[unroll]] for (uint i = 0; i < 4; ++i)
            if (i < count) bias[i] = bias_element(l, col + i);
    [[unroll]] for (uint i = 0; i < ROWS_EACH(l); ++i) sums[i] = alpha_of(l.number) == 1 ? bias : vec4(0);
    multiply(l);
    if (!is_last) barrier();  // every invocation has read the rows
    [[unroll]] for (uint i = 0; i < ROWS_EACH(l); ++i) {
        if (!has_row(l, i)) continue;
        const uint row = row0 + row_of(l, i);
        vec4 residual = vec4(0);
        if (has_residual(l) && row < ROWS_OF_A) residual = load_residual(l, row, col, count);
        const vec4 y = finished(l, sums[i], bias, residual, count);
        if (!is_last) rows[row_of(l, i) * ROW + col / 4] = y;
        if ((l.flags & CHAIN_STORED) != 0 && row < ROWS_OF_A) store_row(l, row, col, count, y);
    }
}

void main() {
    count_rows();
    for (uint row0 = gl_WorkGroupID.x * BM; row0 < ROWS_OF_A; row0 += gl_NumWorkGroups.x * BM) {
        barrier();  // every invocation has read the rows before
        if (TRANS_A != 0) load_columns(row0);
        else load_rows(row0);
#define COMPUTE(layer) compute(layer, row0)
        EACH_LAYER(COMPUTE);
    }
}
