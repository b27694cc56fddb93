// SPDX-License-Identifier: MIT
// How weights, biases and rows come from memory, and how rows go there, all in chunks of 16 bytes.
#ifndef VKGEMM_CHAIN_ROWS_GLSL
#define VKGEMM_CHAIN_ROWS_GLSL

layout(buffer_reference, std430, buffer_reference_align = 16) restrict buffer Chunks { uvec4 at[]; };

// Eight 16-bit elements from element `at` on, of which the first `count` exist: all or none if `wide`, unless `ragged`.
uvec4 load_chunk(uvec2 from, uint at, uint count, bool wide, bool ragged) {
    uvec4 chunk = uvec4(0);
    if (wide && (!ragged || count == 8)) {
        if (count != 0) chunk = Chunks(from).at[at / 8];
    } else {
        [[unroll]] for (uint i = 0; i < 8; ++i)
            if (i < count) chunk[i / 2] |= uint(Halves(from).at[at + i]) << (16 * (i & 1));
    }
    return chunk;
}
void store_chunk(uvec2 to, uint at, uint count, bool wide, bool ragged, uvec4 chunk) {
    if (wide && (!ragged || count == 8)) {
        if (count != 0) Chunks(to).at[at / 8] = chunk;
    } else {
        [[unroll]] for (uint i = 0; i < 8; ++i)
            if (i < count) Halves(to).at[at + i] = uint16_t(chunk[i / 2] >> (16 * (i & 1)) & 0xffffu);
    }
}

// A chunk of the weights of a layer, as it is in memory and in shared memory, where rows end with a chunk of padding.
#define WEIGHT_ROWS(l) PADDED((l.flags & CHAIN_TRANS_B) != 0 ? l.n : l.k)
#define WEIGHT_CHUNKS_ACROSS(l) (PADDED((l.flags & CHAIN_TRANS_B) != 0 ? l.k : l.n) / 8)
uvec4 weight_chunk(const Layer l, uint e) {
    const bool by_columns = (l.flags & CHAIN_TRANS_B) != 0, wide = (l.flags & CHAIN_WIDE_B) != 0;
    const uint rows = by_columns ? l.n : l.k, cols = by_columns ? l.k : l.n;
    const uint row = e / WEIGHT_CHUNKS_ACROSS(l), col = e % WEIGHT_CHUNKS_ACROSS(l) * 8;
    return load_chunk(address(l.number, ARG_B), row * l.ldb + col, row < rows ? count_inside(col, 8, cols) : 0, wide,
                      false);
}
void put_weight_chunk(const Layer l, uint e, uvec4 chunk) {
    const uint across = WEIGHT_CHUNKS_ACROSS(l);
    if (e < WEIGHT_ROWS(l) * across) tile[l.b_chunk + e / across * (across + 1) + e % across] = chunk;
}

// Loads the weights of a layer from chunk `from` on.
void load_weights(const Layer l, uint from) {
    for (uint e = from + gl_LocalInvocationIndex; e < WEIGHT_ROWS(l) * WEIGHT_CHUNKS_ACROSS(l); e += 4 * WG) {
        uvec4 four[4];  // loads that are in flight together
        [[unroll]] for (uint i = 0; i < 4; ++i) four[i] = weight_chunk(l, e + i * WG);
        [[unroll]] for (uint i = 0; i < 4; ++i) put_weight_chunk(l, e + i * WG, four[i]);
    }
}

// What an invocation asks for at the beginning, of all layers together: an element of the bias, and chunks of weights.
const uint ASKED = RESIDENT != 0 ? 2 : 0;
float asked_bias[MOST_LAYERS];
uvec4 asked_weights[MOST_LAYERS * 2];
float bias_or_0(const Layer l, uint col) {
    float x = 0;
    if ((l.flags & CHAIN_BIAS) != 0 && col < l.n) x = bias_element(l, col);
    return x;
}
void ask_for_weights(const Layer l) {
    asked_bias[l.number] = bias_or_0(l, gl_LocalInvocationIndex);
    [[unroll]] for (uint i = 0; i < ASKED; ++i)
        asked_weights[2 * l.number + i] = weight_chunk(l, gl_LocalInvocationIndex + i * WG);
}
void put_bias(const Layer l, uint col, float x) {
    if (col < MAX_WIDTH) tile[BIASES + l.number * (MAX_WIDTH / 4) + col / 4][col % 4] = floatBitsToUint(x);
}
void put_weights(const Layer l) {
    const uint e = gl_LocalInvocationIndex;
    put_bias(l, e, asked_bias[l.number]);
    [[unroll]] for (uint i = 0; i < ASKED; ++i) put_weight_chunk(l, e + i * WG, asked_weights[2 * l.number + i]);
    for (uint col = e + WG; col < MAX_WIDTH; col += WG) put_bias(l, col, bias_or_0(l, col));
    if (RESIDENT != 0) load_weights(l, ASKED * WG);
    if (e < MM) {
        tile[MASKS + l.number * (MM / 4) + e / 4][e % 4] = floatBitsToUint(PADDED(l.n) - MM + e < l.n ? 1.0 : 0.0);
        tile[NO_BIAS + e / 4][e % 4] = 0;
    }
}

// The place of one of the chunks that an invocation moves between memory and the matrix in shared memory. Rows are
// those of what is in memory: columns of a matrix that is stored column-major.
struct Place {
    bool exists;
    uint row, col;  // in elements
    uint staged;    // in shared memory
};
Place place_of(uint t) {
    const uint e = gl_SubgroupInvocationID + t * SG, row = e / ACROSS, chunk = e % ACROSS;
    return Place(CHUNKS % SG == 0 || e < CHUNKS, row, chunk * 8, stage + row * STAGE_ROW + chunk);
}

// A chunk of a matrix of `cols` columns whose part from (row0, col0) on is in shared memory: its first element, and how
// many of the eight exist.
struct Span {
    uint at, count;
};
Span span_of(Place p, uint row0, uint col0, uint cols, uint ld, bool by_columns) {
    const uint row = row0 + (by_columns ? p.col : p.row), col = col0 + (by_columns ? p.row : p.col);
    if (by_columns) return Span(col * ld + row, col < cols ? count_inside(row, 8, ROWS_OF_A) : 0);
    return Span(row * ld + col, row < ROWS_OF_A ? count_inside(col, 8, cols) : 0);
}

// Asks for rows of the first A, from `row0` on.
void prefetch_rows(uint row0) {
    [[unroll]] for (uint i = 0; i < NI; ++i)
        [[unroll]] for (uint k = 0; k < PADDED(INPUTS) / MM; ++k)
            [[unroll]] for (uint t = 0; t < CHUNKS_EACH; ++t) {
                const Place p = place_of(t);
                const Span s = span_of(p, row0 + i * MM, k * MM, INPUTS, LDA, TRANS_A != 0);
                next_rows[(i * FRAGMENTS + k) * CHUNKS_EACH + t] =
                    load_chunk(ADDRESS_A, s.at, p.exists ? s.count : 0, WIDE_ROWS != 0, TRANS_A != 0);
            }
}

// What was asked for becomes the A of the first layer.
void rows_to_operand() {
    [[unroll]] for (uint i = 0; i < NI; ++i)
        [[unroll]] for (uint k = 0; k < PADDED(INPUTS) / MM; ++k) {
            [[unroll]] for (uint t = 0; t < CHUNKS_EACH; ++t) {
                const Place p = place_of(t);
                if (p.exists) tile[p.staged] = next_rows[(i * FRAGMENTS + k) * CHUNKS_EACH + t];
            }
            wait_for_subgroup();
            if (TRANS_A != 0) coopMatLoad(a[i * FRAGMENTS + k], tile, stage, STAGE_ROW, COLUMNS);
            else coopMatLoad(a[i * FRAGMENTS + k], tile, stage, STAGE_ROW, ROWS);
            wait_for_subgroup();
        }
}

// Asks for the residual of a layer, and puts a matrix of it into shared memory.
void prefetch_residual(const Layer l, uint row0) {
    const bool by_columns = (l.flags & CHAIN_TRANS_D) != 0, wide = (l.flags & CHAIN_WIDE) != 0;
    [[unroll]] for (uint i = 0; i < NI; ++i)
        [[unroll]] for (uint j = 0; j < PADDED(l.n) / MM; ++j)
            [[unroll]] for (uint t = 0; t < CHUNKS_EACH; ++t) {
                const Place p = place_of(t);
                const Span s = span_of(p, row0 + i * MM, j * MM, l.n, l.ldd, by_columns);
                residuals[(i * FRAGMENTS + j) * CHUNKS_EACH + t] = load_chunk(
                    address(l.number, ARG_RESIDUAL), s.at, p.exists ? s.count : 0, wide, by_columns);
            }
}
void stage_residual(uint i, uint j) {
    [[unroll]] for (uint t = 0; t < CHUNKS_EACH; ++t) {
        const Place p = place_of(t);
        if (p.exists) tile[p.staged] = residuals[(i * FRAGMENTS + j) * CHUNKS_EACH + t];
    }
    wait_for_subgroup();
}

// Writes the matrix in shared memory to D, up to its edges.
void store_staged(const Layer l, uint row0, uint col0) {
    [[unroll]] for (uint t = 0; t < CHUNKS_EACH; ++t) {
        const Place p = place_of(t);
        const bool by_columns = (l.flags & CHAIN_TRANS_D) != 0;
        const Span s = span_of(p, row0, col0, l.n, l.ldd, by_columns);
        if (p.exists)
            store_chunk(address(l.number, ARG_D), s.at, s.count, (l.flags & CHAIN_WIDE) != 0, by_columns,
                        tile[p.staged]);
    }
}

#endif
