// SPDX-License-Identifier: MIT
// Few rows by a B of a block format: D is BM x BN per work group, with BM all of its rows. It grows from `gemv_mixed`.
// An invocation takes chunks of 64 elements, which are whole words in most formats. Blocks are not whole vectors, and
// neighbours that read a chunk each touch many lines of the cache. With STAGES 2 they first copy neighbouring words to
// shared memory. This pays for one row only, because A needs the shared memory of more. With DEPTH 4 an invocation has
// four chunks side by side, which are whole vectors in memory and in shared memory.
//
//             B, k ->                                       A, as f32
//           +-----------+-----------+-----+-----------+     +-----------------------------+
//     col-  | chunk 0   | chunk 1   | ... | TEAM - 1  |     | TEAM * 64 elements          |  shared memory
//     umns  +-----------+-----------+-----+-----------+     +-----------------------------+
//     BN    |           |           |     |           |       BM of these
//
// Eight neighbouring invocations belong to one team. The next eight belong to the next team, and have the same chunks
// of other columns. With both STAGES 2 and DEPTH 4, four neighbours belong to four teams. So a subgroup reads few
// vectors of A. While a step is multiplied, the next one is on its way. K is a multiple of 64.
#extension GL_GOOGLE_include_directive : require
#define VKGEMM_SELECTS
#define VKGEMM_PAIRS
#include "common/gemm.glsl"
#include "gemv_blocks/shared_memory.h"
#include "gemv_blocks/gemv_chunk64.glsl"
#include "formats/chunk64_decode4.glsl"
#include "gemv_blocks/staged_a.glsl"

const uint ROW_A = GEMV_BLOCKS_ROW(TEAM * DEPTH), ALL_A = BM * ROW_A;
shared vec4 a_step[ALL_A > PARTS ? ALL_A : PARTS];  // at the end the sums of all invocations

void store_a_step() {
    [[unroll]] for (uint i = 0; i < COPIES; ++i) {
        const uint e = i * WG + gl_LocalInvocationIndex, v = e / (STEP / 8), q = e % (STEP / 8);
        if (v >= BM) continue;
        [[unroll]] for (uint part = 0; part < 2; ++part)
            a_step[v * ROW_A + 2 * q + q / (8 * DEPTH) + part] = decode4_scaled(true, copied[i], part);
    }
}
void finish_a_step() {}  // it is in its place

void multiply(uint p, uint place) {
    const uint in_block = DEPTH == 4 ? p : place;  // which of 4, at least
    [[unroll]] for (uint g = 0; g < 16 / FOURS_OF_SCALE; ++g) {
        float group_sums[R * BM];
        [[unroll]] for (uint i = 0; i < R * BM; ++i) group_sums[i] = 0;
        [[unroll]] for (uint i = 0; i < FOURS_OF_SCALE; ++i) {
            const uint t = g * FOURS_OF_SCALE + i;
            vec4 four[R];
            [[unroll]] for (uint r = 0; r < R; ++r) four[r] = chunk64_decode4(r * DEPTH + p, in_block, t);
            [[unroll]] for (uint v = 0; v < BM; ++v) {
                const vec4 x = a_step[v * ROW_A + chunk64_place(place, t)];
                [[unroll]] for (uint r = 0; r < R; ++r)
                    [[unroll]] for (uint j = 0; j < 4; ++j)
                        group_sums[r * BM + v] = fma(four[r][j], x[j], group_sums[r * BM + v]);
            }
        }
        [[unroll]] for (uint r = 0; r < R; ++r) {
            const vec2 factors = chunk64_scales(r * DEPTH + p, in_block, g);
            [[unroll]] for (uint v = 0; v < BM; ++v)
                sums[r * BM + v] = TWO_FACTORS ? fma(group_sums[r * BM + v] * factors.x, factors.y, sums[r * BM + v])
                                               : fma(group_sums[r * BM + v], factors.x, sums[r * BM + v]);
        }
    }
}

void put_part(uint at, float sum) { a_step[at / 4][at % 4] = sum; }
float part_at(uint at) { return a_step[at / 4][at % 4]; }
