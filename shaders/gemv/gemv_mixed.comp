// SPDX-License-Identifier: MIT
// Few rows or few columns, of any types. The large operand is k-contiguous and may have a block format. It grows from
// `gemv`: a work group computes BM x BN of D, of which the smaller one is all of that side of D. A team of TEAM
// invocations runs along k. Each invocation takes a segment of 32 elements of every row that it works on.
//
//     the large operand, k ->                               the small one, once a step, as f32
//           +-----------+-----------+-----+-----------+     +-----------------------------+
//     out-  | segment 0 | segment 1 | ... | TEAM - 1  |     | TEAM * 32 elements          |  shared memory
//     puts  +-----------+-----------+-----+-----------+     +-----------------------------+
//     R     |           |           |     |           |       V of these
//
// A segment is what 16 bytes of 4-bit codes hold: two runs of 16 elements, which are side by side in blocks of 32
// elements and farther apart in blocks of 256. So nothing is loaded twice. While a step is decoded and multiplied, both
// operands of the next step are on their way. Both operands are k-contiguous, and K is a multiple of 32.
#extension GL_GOOGLE_include_directive : require
#define VKGEMM_SELECTS
#define VKGEMM_PAIRS
#include "common/gemm.glsl"
#include "common/parts.glsl"
#include "common/shared_memory.h"

const bool TALL = BM > BN;  // few columns: A is the large operand; else B is
const uint V = TALL ? BN : BM, OUT = TALL ? BM : BN;
const uint R = OUT / (WG / TEAM), STEP = TEAM * 32;
const uint ROW_X = PADDED_EIGHTS(TEAM);

shared vec4 small[V * ROW_X];
shared float parts[WG * R * V];
const uint COPIES = (V * STEP / 8 + WG - 1) / WG;  // of eight elements of the small operand, by an invocation

Packed8 segment[R * 4], next[R * 4], copied[COPIES];
float sums[R * V], sums_of_8[R * V];
const uint FINISHED = (OUT * V + WG - 1) / WG;  // elements of D that an invocation finishes
float gates[FINISHED];

// Where eight elements (c: 0 to 3) of segment p begin, in elements from the beginning of segment 0.
uint place_of(uint p, uint c) {
    const uint type = type_of(TALL);
    const uint run = RUN_OF(type);
    return p / (run / 16) * (2 * run) + p % (run / 16) * 16 + 8 * (c & 1) + run * (c >> 1);
}

// Loads segment p of the invocation's rows from o0 on. Rows past the last one read the last row: their sums are not
// stored. The caller replaces segments past the end by the last one.
void load_chunks(uint o0, uint p) {
    const uint elements = block_elements(type_of(TALL)), segments = max(elements / 32, 1);
    const uint first = batch * (TALL ? args.batch_a : args.batch_b), ld = TALL ? args.lda : args.ldb;
    [[unroll]] for (uint r = 0; r < R; ++r) {
        const uint near = nearest(o0 + r, TALL ? args.m : args.n), row = first + (TALL ? ROW_OF_A(near) : near) * ld;
        const uint block = row / elements + (elements == 1 ? 32 * p : p / segments);
        [[unroll]] for (uint c = 0; c < 4; ++c)
            next[r * 4 + c] = load8_of_block(TALL, block + (elements == 1 ? 8 * c : 0), place_of(p % segments, c) / 8);
    }
}

// Loads the small operand's elements of the step that begins at k0. store_small replaces those past the end by 0.
void load_small(uint v0, uint k0) {
    [[unroll]] for (uint i = 0; i < COPIES; ++i) {
        const uint e = i * WG + gl_LocalInvocationIndex, v = v0 + min(e / (STEP / 8), V - 1);
        const uint k = min(k0 + e % (STEP / 8) * 8, k_end - 8);
        copied[i] = load8(!TALL, TALL ? index_b(k, v) : index_a(v, k));
    }
}
void store_small(uint k0) {
    [[unroll]] for (uint i = 0; i < COPIES; ++i) {
        const uint e = i * WG + gl_LocalInvocationIndex, v = e / (STEP / 8), q = e % (STEP / 8);
        if (v >= V) continue;
        [[unroll]] for (uint part = 0; part < 2; ++part)
            small[v * ROW_X + 2 * q + q / 4 + part] =
                mix(vec4(0), decode4_scaled(!TALL, copied[i], part), bvec4(k0 + 8 * q < k_end));
    }
}

// Adds the products of the segments with what store_small stored. Products past the end are 0.
void multiply(uint lane, bool counts) {
    const uint type = type_of(TALL);
    [[unroll]] for (uint c = 0; c < 4; ++c) {
        [[unroll]] for (uint i = 0; i < R * V; ++i) sums_of_8[i] = 0;
        [[unroll]] for (uint part = 0; part < 2; ++part) {
            const uint q = (place_of(lane, c) + 4 * part) / 4;
            vec4 four[R];
            [[unroll]] for (uint r = 0; r < R; ++r) four[r] = decode4(type, segment[r * 4 + c], part);
            [[unroll]] for (uint v = 0; v < V; ++v) {
                const vec4 x = small[v * ROW_X + q + q / 8];
                [[unroll]] for (uint r = 0; r < R; ++r)
                    [[unroll]] for (uint j = 0; j < 4; ++j)
                        sums_of_8[r * V + v] = fma(four[r][j], x[j], sums_of_8[r * V + v]);
            }
        }
        [[unroll]] for (uint r = 0; r < R; ++r) {
            const vec2 factors = scales_of(type, segment[r * 4 + c]);
            [[unroll]] for (uint v = 0; v < V; ++v)
                sums[r * V + v] += mix(0, sums_of_8[r * V + v] * factors.x * factors.y, counts);
        }
    }
}

void sum_up(uint o0, uint v0, uint team, uint lane) {
    [[unroll]] for (uint i = 0; i < R * V; ++i) sums[i] = 0;
    if (k_begin < k_end) {  // lavapipe runs a loop's body once more with no invocation left in it
        const uint last = args.k / 32 - 1;
        load_chunks(o0 + team * R, min(k_begin / 32 + lane, last));
        load_small(v0, k_begin);
        for (uint k0 = k_begin; k0 < k_end; k0 += STEP) {
            store_small(k0);
            [[unroll]] for (uint i = 0; i < R * 4; ++i) segment[i] = next[i];
            barrier();  // the step of the small operand is complete
            load_chunks(o0 + team * R, min((k0 + STEP) / 32 + lane, last));
            load_small(v0, k0 + STEP);
            multiply(lane, k0 + 32 * lane < k_end);
            barrier();  // every invocation has read it
        }
    }
}

void main() {
    uint row0, col0;
    if (!tile_of(row0, col0)) return;
    const uint tid = gl_LocalInvocationIndex, team = tid / TEAM, lane = tid % TEAM;
    const uint o0 = TALL ? row0 : col0, v0 = TALL ? col0 : row0;
    for (uint product = 0; product <= PAIR; ++product) {
        is_gate = product < PAIR;
        sum_up(o0, v0, team, lane);
        [[unroll]] for (uint i = 0; i < R * V; ++i) parts[place_of_part(team * R * V + i, lane, TEAM)] = sums[i];
        barrier();  // all parts are written
        [[unroll]] for (uint n = 0; n < FINISHED; ++n) {
            const uint e = n * WG + tid;
            if (e >= OUT * V) continue;
            float sum = 0;
            for (uint i = 0; i < TEAM; ++i) sum += parts[place_of_part(e, i, TEAM)];
            const uint o = o0 + e / V, v = v0 + e % V;
            if (PAIR != 0) gate_sum = gates[n];
            if (is_gate) gates[n] = sum;
            else store_d(TALL ? o : v, TALL ? v : o, sum);
        }
        if (PAIR != 0) barrier();  // every invocation has read the parts
    }
}
