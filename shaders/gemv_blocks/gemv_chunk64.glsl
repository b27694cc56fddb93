// SPDX-License-Identifier: MIT
// What the families of few rows by a B of a block format share: how B comes in chunks, and the loop over K. gemv_blocks
// has the picture. A family has hooks for its own side of A, which it defines after this file.
#ifndef VKGEMM_GEMV_CHUNK64_GLSL
#define VKGEMM_GEMV_CHUNK64_GLSL
#include "common/parts.glsl"
#include "formats/chunk64.glsl"
#include "gemv_blocks/staged_b.glsl"

const uint TEAMS = WG / TEAM;
// SIDE neighbouring invocations belong to one team, and the next SIDE to the next team. If B's spans are staged, MATES
// neighbours belong to as many teams, and have the same chunks of different columns: they read one address of A, and
// eight invocations read 16 bytes of B each from all banks.
const uint SIDE = 8, MATES = STAGES > 1 ? DEPTH == 1 ? 1 : TEAMS % 4 == 0 ? 4 : 1 : 1;
const uint PARTS = (WG * R * BM + 3) / 4;  // vectors of four, for the sums of all invocations

float sums[R * BM];
const uint FINISHED = (BN * BM + WG - 1) / WG;  // elements of D that an invocation finishes
float gates[FINISHED];

// Does A go through shared memory twice: first unrounded, then rounded?
#ifdef VKGEMM_PACKED_DOTS
const bool TWICE_A = STAGES / 2 * (DEPTH / 2) * (ALIGNED / CHUNKS_A % 2) != 0;
#else
const bool TWICE_A = false;
#endif

// The hooks. load_a_step loads the rows of A of the step that begins at k0, and the last elements again past the end.
// store_a_step stores them in shared memory. With TWICE_A, finish_a_step rounds them from there to their place.
void load_a_step(uint row0, uint k0);
void store_a_step();
void finish_a_step();
// Adds the products of the invocation's chunk p of each column, which is chunk `place` of the step, with the stored A.
void multiply(uint p, uint place);
// Writes sum number `at` of all invocations to the same shared memory, after the last step.
void put_part(uint at, float sum);
float part_at(uint at);

// Column r of an invocation, of the tile.
uint column_of(uint team, uint r) { return team + r * TEAMS; }

// Loads the chunks of the step that begins at k0 straight from memory, and the last chunks again past the end.
void load_chunks(uint col0, uint team, uint lane, uint k0) {
    [[unroll]] for (uint r = 0; r < R; ++r) {
        const uint column = begin_of(col0 + column_of(team, r), 0), first = k0 / 64 + lane * DEPTH;
        if (UNIT == 1) {
            [[unroll]] for (uint i = 0; i < SPAN_WORDS; ++i)
                next[r * SPAN_WORDS + i] = chunk64_word_at(
                    false, 0, column, min(first + i / WORDS_OF_64, args.k / 64 - 1), i % WORDS_OF_64);
        } else {
            const uint begin = column + min(first, args.k / 64 - DEPTH) / DEPTH * SPAN_BYTES;
            [[unroll]] for (uint i = 0; i < SPAN_WORDS / UNIT; ++i) {
                const uvec4 unit = unit_of_b(begin + 4 * UNIT * i);
                [[unroll]] for (uint j = 0; j < UNIT; ++j) next[r * SPAN_WORDS + UNIT * i + j] = unit[j];
            }
        }
    }
}

// The spans of each column, from shared memory.
void take_spans(uint team, uint lane) {
    [[unroll]] for (uint i = 0; i < R * SPAN_WORDS; i += UNIT_OF_SPAN) {
        const uint w = column_of(team, i / SPAN_WORDS) * COLUMN + lane * SPAN_WORDS + i % SPAN_WORDS;
        const uvec4 unit = b_step[w / 4];
        if (UNIT_OF_SPAN == 4) {
            [[unroll]] for (uint j = 0; j < 4; ++j) next[i + j] = unit[j];
        } else {
            const uvec2 pair = (w & 2) == 0 ? unit.xy : unit.zw;
            next[i] = pair.x;
            next[i + 1] = pair.y;
        }
    }
}

// Makes the chunks of what store_staged or load_chunks fetched.
void take_chunks(uint team, uint lane, uint phase[R]) {
    if (STAGED && SPANS) take_spans(team, lane);
    [[unroll]] for (uint i = 0; i < R * DEPTH * WORDS_OF_64; ++i) {
        const uint r = i / (DEPTH * WORDS_OF_64), p = i / WORDS_OF_64 % DEPTH, q = i % WORDS_OF_64;
        if (SPANS) chunk[i] = chunk64_word_at(true, r * SPAN_WORDS, 0, p, q);
        else if (STAGED) chunk[i] = chunk64_word_at(true, column_of(team, r) * COLUMN, phase[r], lane * DEPTH + p, q);
        else chunk[i] = next[i];
    }
}

void sum_up(uint row0, uint col0, uint team, uint lane) {
    [[unroll]] for (uint i = 0; i < R * BM; ++i) sums[i] = 0;
    if (k_begin < k_end) {  // lavapipe runs a loop's body once more with no invocation left in it
        const uint copied_column = begin_of(col0 + gl_LocalInvocationIndex / COPY, 0);
        if (STAGED) load_staged(copied_column, k_begin);
        else load_chunks(col0, team, lane, k_begin);
        load_a_step(row0, k_begin);
        uint phase[R];  // bytes of the first word of each column before its first block
        [[unroll]] for (uint r = 0; r < R; ++r)
            phase[r] = ODD_WORDS == 0 ? 0 : begin_of(col0 + column_of(team, r), k_begin) & 3;
        for (uint k0 = k_begin; k0 < k_end; k0 += STEP) {
            store_a_step();
            if (STAGED) store_staged();
            else take_chunks(team, lane, phase);
            barrier();  // the step is complete
            if (STAGED) load_staged(copied_column, k0 + STEP);
            else load_chunks(col0, team, lane, k0 + STEP);
            load_a_step(row0, k0 + STEP);
            if (STAGED) take_chunks(team, lane, phase);
            if (TWICE_A) {
                finish_a_step();
                barrier();  // every invocation has read what the next step takes the place of, and A is rounded
            }
            [[unroll]] for (uint p = 0; p < DEPTH; ++p)
                if (k0 + 64 * (lane * DEPTH + (SPANS ? 0 : p)) < k_end) multiply(p, lane * DEPTH + p);
            if (!TWICE_A) barrier();  // every invocation has read it
        }
        if (TWICE_A) barrier();  // every invocation has read the last step
    }
}

void main() {
    uint row0, col0;
    if (!tile_of(row0, col0)) return;
    const uint tid = gl_LocalInvocationIndex;
    const uint team = MATES > 1 ? tid / (MATES * TEAM) * MATES + tid % MATES : tid / SIDE % TEAMS;
    const uint lane = MATES > 1 ? tid / MATES % TEAM : tid / (SIDE * TEAMS) * SIDE + tid % SIDE;
    for (uint product = 0; product <= PAIR; ++product) {
        is_gate = product < PAIR;
        sum_up(row0, col0, team, lane);
        [[unroll]] for (uint i = 0; i < R * BM; ++i)
            put_part(place_of_part(column_of(team, i / BM) * BM + i % BM, lane, TEAM), sums[i]);
        barrier();  // all parts are written
        [[unroll]] for (uint n = 0; n < FINISHED; ++n) {
            const uint e = n * WG + tid;
            if (e >= BN * BM) continue;
            float sum = 0;
            for (uint i = 0; i < TEAM; ++i) sum += part_at(place_of_part(e, i, TEAM));
            if (PAIR != 0) gate_sum = gates[n];
            if (is_gate) gates[n] = sum;
            else store_d(row0 + e % BM, col0 + e / BM, sum);
        }
        if (PAIR != 0) barrier();  // every invocation has read the parts
    }
}

#endif
