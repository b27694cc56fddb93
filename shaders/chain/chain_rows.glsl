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

void load_weights(const Layer l) {
    const bool by_columns = (l.flags & CHAIN_TRANS_B) != 0, wide = (l.flags & CHAIN_WIDE_B) != 0;
    const uint rows = by_columns ? l.n : l.k, cols = by_columns ? l.k : l.n;
    const uint across = PADDED(cols) / 8, all = PADDED(rows) * across;
    const uvec2 b = address(l.number, ARG_B);
    for (uint first = gl_LocalInvocationIndex; first < all; first += 4 * WG) {
        uvec4 four[4];  // loads that are in flight together
        [[unroll]] for (uint i = 0; i < 4; ++i) {
            const uint e = first + i * WG, row = e / across, col = e % across * 8;
            four[i] = load_chunk(b, row * l.ldb + col, row < rows ? count_inside(col, 8, cols) : 0, wide, false);
        }
        [[unroll]] for (uint i = 0; i < 4; ++i) {
            const uint e = first + i * WG;
            if (e < all) tile[l.b_chunk + e / across * (across + 1) + e % across] = four[i];
        }
    }
}

void load_bias(const Layer l) {
    for (uint e = gl_LocalInvocationIndex; e < MAX_WIDTH / 4; e += WG) {
        uvec4 four = uvec4(0);
        if ((l.flags & CHAIN_BIAS) != 0)
            [[unroll]] for (uint i = 0; i < 4; ++i)
                if (4 * e + i < l.n) four[i] = floatBitsToUint(bias_element(l, 4 * e + i));
        tile[BIASES + l.number * (MAX_WIDTH / 4) + e] = four;
    }
    for (uint e = gl_LocalInvocationIndex; e < MM / 4; e += WG) {
        uvec4 four = uvec4(0);
        [[unroll]] for (uint i = 0; i < 4; ++i)
            if (PADDED(l.n) - MM + 4 * e + i < l.n) four[i] = floatBitsToUint(1.0);
        tile[MASKS + l.number * (MM / 4) + e] = four;
        tile[NO_BIAS + e] = uvec4(0);
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
