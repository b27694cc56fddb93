// SPDX-License-Identifier: MIT
// Few rows by a B of a block format on the matrix units: D is BM x BN per work group, with BM all of its rows. B goes
// through shared memory in whole lines, as in `gemv_blocks`. Then the invocations of a subgroup have the same chunk of
// K in neighbouring columns. They decode a part of it at a time to f16, and exchange it in a small part of shared
// memory that is the subgroup's own, from where the matrix units take it. Each subgroup sums its own chunks of every
// step. If subgroups share columns, their sums are added when D is written.
//
//           B, k ->
//         +-----------+-----------+-----+-----------+
//   col-  | subgroup  | subgroup  | ... | subgroup  |     a chunk: 64 elements of SG columns
//   umns  | 0         | SIDE      |     |           |     a part of it: 16 TN elements, TN * 16 / MK products of
//     BN  +-----------+-----------+-----+-----------+     matrices for each MN columns
//         | 1         | SIDE + 1  |     |           |
//         +-----------+-----------+-----+-----------+
#extension GL_GOOGLE_include_directive : require
#define VKGEMM_MATRIX_UNITS
#define UNIT_A f16
#define UNIT_B f16
#include "common/gemm.glsl"
#include "common/matrix.glsl"
#include "formats/chunk64.glsl"
#include "gemv_blocks/staged_b.glsl"
#include "formats/chunk64_dot4.glsl"
#include "gemv_blocks/staged_a.glsl"

const uint NJ = SG / MN;  // matrices of a subgroup side by side: 1 or 2. Some drivers keep arrays of them in memory
SUMS first, second;

// Every four elements of both operands are in the order 0, 2, 1, 3, in which bytes of codes become pairs of f16.
void store_a_step(uint k0) {
    [[unroll]] for (uint i = 0; i < COPIES; ++i) {
        const uint e = i * WG + gl_LocalInvocationIndex, v = e / (STEP / 8), q = e % (STEP / 8);
        const vec4 low = decode4_scaled(true, copied[i], 0), high = decode4_scaled(true, copied[i], 1);
        const uvec4 bits =
            uvec4(packHalf2x16(low.xz), packHalf2x16(low.yw), packHalf2x16(high.xz), packHalf2x16(high.yw));
        if (v < BM) b_step[v * ROW_A + q] = mix(bits, uvec4(0), bvec4(k0 + 8 * q >= k_end));
    }
}

// Takes chunk `part` of a column's step from shared memory. If blocks are whole words, the chunk begins in the same
// place of a vector in all columns. Otherwise the step begins `phase` bytes after a word.
const uint WINDOWS = IS(Q4_K) ? 0 : IS(Q5_K) ? 0 : IS(Q6_K) ? 0 : 1, VECTORS = (WORDS_OF_64 + 6) / 4;
void take_chunk(uint column, uint phase, uint part, bool is_inside) {
    const uint begin = phase + part * CHUNK64_BYTES, first = begin / 4;
    if (WINDOWS == 0) {
        [[unroll]] for (uint q = 0; q < WORDS_OF_64; ++q) chunk[q] = chunk64_word_at(true, column, phase, part, q);
    } else {
        uint words[4 * VECTORS];
        [[unroll]] for (uint i = 0; i < VECTORS; ++i) {
            const uvec4 v = b_step[column / 4 + first / 4 + i];
            [[unroll]] for (uint j = 0; j < 4; ++j) words[4 * i + j] = v[j];
        }
        const bool one = (first & 1) != 0, two = (first & 2) != 0;
        [[unroll]] for (uint i = 0; i < WORDS_OF_64 + 2; ++i) words[i] = one ? words[i + 1] : words[i];
        [[unroll]] for (uint i = 0; i < WORDS_OF_64; ++i) chunk[i] = two ? words[i + 2] : words[i];
        if (IS(MXFP4)) chunk[WORDS_OF_64 - 1] = begin;
    }
    const uint codes = ODD_WORDS == 0 ? WORDS_OF_64 : WORDS_OF_64 - 1;  // the last word is where the chunk begins
    [[unroll]] for (uint q = 0; q < codes; ++q) chunk[q] = is_inside ? chunk[q] : 0;  // as f16 these are 0
}

// Elements 4 q to 4 q + 3 of the chunk, as f16.
const uint IN_HALVES = IS(Q8_0) ? 1 : IS(Q4_0) ? 1 : IS(Q5_0) ? 1 : 0;  // whole numbers with a scale of f16
uint scaled_pair(uint pair, float16_t scale) {
    float bias = 1024 + (IS(Q8_0) ? 128 : CODE_BIAS);
    return packFloat2x16((unpackFloat2x16(pair) - f16vec2(bias)) * scale);
}
uvec2 four_of_chunk(uint part, uint q) {
    if (IN_HALVES != 0) {
        const uint h = q / 8, codes = chunk64_codes4(0, 0, h, q % 8) ^ (IS(Q8_0) ? 0x80808080u : 0);
        const float16_t scale = float16_t(chunk64_dot_scales(0, 0, h).x);
        return uvec2(scaled_pair(codes & 0x00ff00ffu | 0x64006400u, scale),
                     scaled_pair(codes >> 8 & 0x00ff00ffu | 0x64006400u, scale));
    }
    const uint j = IS(NVFP4) ? 2 * (q / 4) + q % 2 : 4 * (q / 8) + q % 4;
    const uint t = BY_HALVES ? q : 2 * j + (IS(NVFP4) ? q / 2 % 2 : q / 4 % 2);
    const vec2 factors = chunk64_scales(0, part, t / FOURS_OF_SCALE);
    const vec4 x = chunk64_decode4(0, part, t) * factors.x * factors.y;
    return uvec2(packHalf2x16(x.xz), packHalf2x16(x.yw));
}

// Where part i of the subgroup's chunks is in a row of A, in vectors of eight.
uint place_of_a(uint part, uint i) {
    if (HALVES_ALTERNATE) return 8 * ((part & ~1u) + i * PART / 32) + 4 * (part & 1) + i * PART % 32 / 8;
    return 8 * part + i * PART / 8;
}

// Multiplies chunk `part` of the step, of which every invocation of the subgroup holds its own column.
void multiply(uint part) {
    const uint mine = B_BASE + SUBGROUP * SG * ROW_B;
    [[unroll]] for (uint i = 0; i < 64 / PART; ++i) {
        [[unroll]] for (uint e = 0; e < PART / 8; ++e) {
            const uint q = i * PART / 4 + 2 * e;
            b_step[mine + LANE * ROW_B + e] =
                uvec4(four_of_chunk(part, q), four_of_chunk(part, q + 1));
        }
        wait_for_subgroup();
        [[unroll]] for (uint s = 0; s < PART / MK; ++s) {
            A_MATRIX a;
            B_MATRIX b;
            coopMatLoad(a, b_step, place_of_a(part, i) + s * MK / 8, ROW_A, ROWS);
            coopMatLoad(b, b_step, mine + s * MK / 8, ROW_B, COLUMNS);
            first = coopMatMulAdd(a, b, first);
            if (NJ == 1) continue;
            coopMatLoad(b, b_step, mine + MN * ROW_B + s * MK / 8, ROW_B, COLUMNS);
            second = coopMatMulAdd(a, b, second);
        }
        wait_for_subgroup();
    }
}

void main() {
    uint row0, col0;
    if (!tile_of(row0, col0)) return;
    const uint tid = gl_LocalInvocationIndex, part = SUBGROUP / SIDE;
    const uint column = 4 * B_BASE + (SUBGROUP % SIDE * SG + LANE) * COLUMN;
    first = second = NO_SUMS;
    if (k_begin < k_end) {
        const uint copied_column = begin_of(col0 + tid / COPY, 0);
        const uint own = begin_of(col0 + SUBGROUP % SIDE * SG + LANE, k_begin);
        const uint phase = ODD_WORDS == 0 ? 0 : own & 3;
        load_staged(copied_column, k_begin);
        load_a_step(row0, k_begin);
        for (uint k0 = k_begin; k0 < k_end; k0 += STEP) {
            store_a_step(k0);
            store_staged();
            barrier();  // the step is complete
            load_staged(copied_column, k0 + STEP);
            load_a_step(row0, k0 + STEP);
            take_chunk(column, phase, part, k0 + 64 * part < k_end);
            barrier();  // every invocation has its chunk
            multiply(part);
            barrier();  // every invocation has read A, and the parts
        }
    }
    const uint mine = SUBGROUP * MM * ROW_D;
    coopMatStore(first, b_step, mine, ROW_D, ROWS);
    if (NJ == 2) coopMatStore(second, b_step, mine + MN / 4, ROW_D, ROWS);
    barrier();
    for (uint e = tid; e < BM * BN; e += WG) {
        const uint row = e / BN, col = e % BN;
        float sum = 0;
        for (uint s = col / SG; s < SUBGROUPS; s += SIDE)
            sum += uintBitsToFloat(b_step[(s * MM + row) * ROW_D + col % SG / 4][col % 4]);
        store_d(row0 + row, col0 + col, sum);
    }
}
