// SPDX-License-Identifier: MIT
// Few rows by a B of a block format: D is BM x BN per work group, with BM all of its rows. It grows from `gemv_mixed`.
// An invocation takes pieces of 64 elements, which are whole words in most formats. Blocks are no whole vectors, and
// neighbours that read a piece each touch many lines of the cache. With STAGES 2 they copy neighbouring words to shared
// memory first: that pays for one row alone, because the shared memory is wanted for A otherwise.
//
//             B, k ->                                       A, as f32
//           +-----------+-----------+-----+-----------+     +-----------------------------+
//     col-  | piece 0   | piece 1   | ... | TEAM - 1  |     | TEAM * 64 elements          |  shared memory
//     umns  +-----------+-----------+-----+-----------+     +-----------------------------+
//     BN    |           |           |     |           |       BM of these
//
// Eight invocations of a team are neighbours, and the next eight belong to the next team, with the same pieces of other
// columns: so a subgroup reads the same few vectors of A. While a step is multiplied, the next one is on its way. K is
// a multiple of 64.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "gemm.glsl"
#include "pieces.glsl"

const uint TEAMS = WG / TEAM, STEP = TEAM * 64, SIDE = 8;  // invocations of a team side by side
const uint ROW_A = GEMV_BLOCKS_ROW(TEAM), ALL_A = BM * ROW_A, PARTS = (WG * R * BM + 3) / 4;
const uint COPIES = (BM * STEP / 8 + WG - 1) / WG;  // octets of A that an invocation copies

shared vec4 a_step[ALL_A > PARTS ? ALL_A : PARTS];  // at the end everybody's sums
Octet copied[COPIES];
// Words of B that an invocation copies: COPY of them side by side in a column, every COLUMNS-th column.
const uint COPY = WG < 32 ? WG : 32, COLUMNS = WG / COPY;
const uint B_COPIES = (COLUMN_WORDS + COPY - 1) / COPY, B_COLUMNS = (BN + COLUMNS - 1) / COLUMNS;
uint copied_words[STAGED ? B_COPIES * B_COLUMNS : 1];
float sums[R * BM];

// The byte at which the step that begins at k0 begins in this column, as word_of_b counts them. All steps of a column
// begin as many bytes past a word. Past the last column the last one is read, for sums that are not stored.
uint begin_of(uint col, uint k0) {
    return (args.b.x & 3) + (batch * args.batch_b + nearest(col, args.n) * args.ldb) / BLOCK * BLOCK_BYTES +
           k0 / PIECE_BLOCK * PIECE_BYTES;
}

// The words of B of the step that begins at k0, whose last one may reach past k_end: there the last word is read again.
void load_staged(uint col0, uint k0) {
    const uint copier = gl_LocalInvocationIndex % COPY, row = gl_LocalInvocationIndex / COPY;
    const uint from = min(k0, k_end - 64);
    [[unroll]] for (uint c = 0; c < B_COLUMNS; ++c) {
        const uint begin = begin_of(col0 + min(row + c * COLUMNS, BN - 1), from);
        if (k0 + STEP < k_end) {
            [[unroll]] for (uint i = 0; i < B_COPIES; ++i)
                copied_words[c * B_COPIES + i] =
                    word_of_b(begin, i + 1 < B_COPIES ? copier + i * COPY : min(copier + i * COPY, COLUMN_WORDS - 1));
        } else {
            const uint blocks = (k_end - from + PIECE_BLOCK - 1) / PIECE_BLOCK;
            const uint last = ((begin & 3) + blocks * PIECE_BYTES + 3) / 4 - 1;
            [[unroll]] for (uint i = 0; i < B_COPIES; ++i)
                copied_words[c * B_COPIES + i] = word_of_b(begin, min(copier + i * COPY, last));
        }
    }
}
void store_staged() {
    const uint copier = gl_LocalInvocationIndex % COPY, row = gl_LocalInvocationIndex / COPY;
    [[unroll]] for (uint c = 0; c < B_COLUMNS; ++c) {
        [[unroll]] for (uint i = 0; i < B_COPIES; ++i)
            b_step[min(row + c * COLUMNS, BN - 1) * COLUMN + min(copier + i * COPY, COLUMN_WORDS - 1)] =
                copied_words[c * B_COPIES + i];
    }
}

// Column r of an invocation, of the tile.
uint column_of(uint team, uint r) { return team + r * TEAMS; }

// The pieces of the step that begins at k0, straight from memory; past the end the last ones.
void load_pieces(uint col0, uint team, uint lane, uint k0) {
    [[unroll]] for (uint r = 0; r < R; ++r)
        take_piece(r, 0, begin_of(col0 + column_of(team, r), 0), min(k0 / 64 + lane, args.k / 64 - 1));
}

// The octets of A of the step that begins at k0; later, where they are stored, they are 0 past the end.
void load_a_step(uint row0, uint k0) {
    [[unroll]] for (uint i = 0; i < COPIES; ++i) {
        const uint e = i * WG + gl_LocalInvocationIndex, v = min(e / (STEP / 8), BM - 1);
        copied[i] = octet_from(true, index_a(row0 + v, min(k0 + e % (STEP / 8) * 8, k_end - 8)));
    }
}
void store_a_step(uint k0) {
    [[unroll]] for (uint i = 0; i < COPIES; ++i) {
        const uint e = i * WG + gl_LocalInvocationIndex, v = e / (STEP / 8), q = e % (STEP / 8);
        if (v >= BM) continue;
        [[unroll]] for (uint part = 0; part < 2; ++part)
            a_step[v * ROW_A + 2 * q + q / 8 + part] =
                mix(vec4(0), finished_quad(true, copied[i], part), bvec4(k0 + 8 * q < k_end));
    }
}

void take_next() {
    [[unroll]] for (uint i = 0; i < R * PIECE_WORDS; ++i) piece[i] = next[i];
}

// Adds the products of the pieces with what store_a_step stored. Those of a piece past the end do not count.
void multiply(uint lane, bool counts) {
    [[unroll]] for (uint g = 0; g < 16 / GROUP_QUADS; ++g) {
        float group_sums[R * BM];
        [[unroll]] for (uint i = 0; i < R * BM; ++i) group_sums[i] = 0;
        [[unroll]] for (uint i = 0; i < GROUP_QUADS; ++i) {
            const uint t = g * GROUP_QUADS + i;
            vec4 four[R];
            [[unroll]] for (uint r = 0; r < R; ++r) four[r] = piece_quad(r, lane, t);
            [[unroll]] for (uint v = 0; v < BM; ++v) {
                const vec4 x = a_step[v * ROW_A + piece_place(lane, t)];
                [[unroll]] for (uint r = 0; r < R; ++r)
                    [[unroll]] for (uint j = 0; j < 4; ++j)
                        group_sums[r * BM + v] = fma(four[r][j], x[j], group_sums[r * BM + v]);
            }
        }
        [[unroll]] for (uint r = 0; r < R; ++r) {
            const vec2 factors = piece_factors(r, lane, g);
            [[unroll]] for (uint v = 0; v < BM; ++v)
                sums[r * BM + v] += mix(0, group_sums[r * BM + v] * factors.x * factors.y, counts);
        }
    }
}

void main() {
    uint row0, col0;
    if (!tile_of(row0, col0)) return;
    const uint tid = gl_LocalInvocationIndex, team = tid / SIDE % TEAMS;
    const uint lane = tid / (SIDE * TEAMS) * SIDE + tid % SIDE;
    [[unroll]] for (uint i = 0; i < R * BM; ++i) sums[i] = 0;
    if (k_begin < k_end) {  // lavapipe runs a loop's body once more with no invocation left in it
        if (STAGED) load_staged(col0, k_begin);
        else load_pieces(col0, team, lane, k_begin);
        load_a_step(row0, k_begin);
        for (uint k0 = k_begin; k0 < k_end; k0 += STEP) {
            store_a_step(k0);
            if (STAGED) store_staged();
            else take_next();
            barrier();  // the step is complete
            if (STAGED) load_staged(col0, k0 + STEP);
            else load_pieces(col0, team, lane, k0 + STEP);
            load_a_step(row0, k0 + STEP);
            if (STAGED) {
                [[unroll]] for (uint r = 0; r < R; ++r)
                    take_piece(r, column_of(team, r) * COLUMN, begin_of(col0 + column_of(team, r), k_begin) & 3, lane);
                take_next();
            }
            multiply(lane, k0 + 64 * lane < k_end);
            barrier();  // every invocation has read it
        }
    }
    [[unroll]] for (uint i = 0; i < R * BM; ++i) {
        const uint at = (column_of(team, i / BM) * BM + i % BM) * TEAM + lane;
        a_step[at / 4][at % 4] = sums[i];
    }
    barrier();  // all parts are written
    for (uint e = tid; e < BN * BM; e += WG) {
        float sum = 0;
        for (uint i = 0; i < TEAM; ++i) {
            const uint at = e * TEAM + (i + e) % TEAM;
            sum += a_step[at / 4][at % 4];
        }
        store_d(row0 + e % BM, col0 + e / BM, sum);
    }
}
