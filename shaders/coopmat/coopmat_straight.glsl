// SPDX-License-Identifier: MIT
// How coopmat sums with STAGES 0: a subgroup loads what it multiplies straight from memory, without a tile in shared
// memory and without a barrier. It is for few rows: if a subgroup has all of them, no other one needs its part of B.
//
//     two slices of a matrix of A, or of B by its columns: MM rows of 2 MK elements
//     row 0  [ invocation 0 | 1 | 2 | 3 ]     16 bytes each: with SG = 32, the subgroup loads 8 rows of 64 bytes,
//     row 1  [ invocation 4 | 5 | 6 | 7 ]     and then the next 8
//      ...
//     row 8  [ invocation 0 | 1 | 2 | 3 ]
//
// Invocation 0 gets k = 0 to 7 of rows 0 and 8. If its registers hold four elements of these rows in each matrix, it
// takes k = 0 to 3 for the first slice and k = 4 to 7 for the second. Which element of a slice is which k does not
// matter, because it is the same one of A and of B. A matrix of numbers shows what registers hold. Where they hold
// something else, the chunks go through shared memory, of which each subgroup has a part of its own.
#ifndef VKGEMM_COOPMAT_STRAIGHT_GLSL
#define VKGEMM_COOPMAT_STRAIGHT_GLSL
#include "common/matrix_pairs.glsl"

const uint RUN = 2 * MK / PA, DOWN = SG / RUN;  // chunks of two slices; rows that the subgroup loads at a time
const uint TURNS = MM / DOWN, ROW_OWN = RUN + 1;
uint from_a[NI * TURNS], from_b[NJ * TURNS];  // where these rows begin: elements
bool turns_a, turns_b;                        // do the rows of an invocation take turns, by two elements?

// With few rows steps are taken in order. Then work groups that share a multiprocessor, and began together, read the
// same lines of A, and find them in its cache.
uint step_at(uint t) { return BM <= 32 ? min(t, steps - 1) : tile_at(t); }
uint k_of(uint t) { return k_begin + step_at(t) * BK + set * 2 * MK + LANE % RUN * PA; }
uint existing(uint k) { return WHOLE != 0 ? k : min(k, k_end - PA); }
uvec4 or_zero(uvec4 chunk, uint k) { return WHOLE == 0 && k >= k_end ? uvec4(0) : chunk; }

// Four elements of each of two rows, two to a word, in the order of the registers.
uvec4 ordered(uvec2 x, uvec2 y, bool by_turns) { return by_turns ? uvec4(x.x, y.x, x.y, y.y) : uvec4(x, y); }

void take_b(uint j, uvec4 x, uvec4 y) {
    const uvec4 even = ordered(x.xy, y.xy, turns_b), odd = ordered(x.zw, y.zw, turns_b);
    SET_MATRIX(even_b[j], 0, even)
    SET_MATRIX(odd_b[j], 0, odd)
}
void take_a(uint i, uvec4 x, uvec4 y) {
    const uvec4 even = ordered(x.xy, y.xy, turns_a), odd = ordered(x.zw, y.zw, turns_a);
    SET_MATRIX(even_a[i], 0, even)
    SET_MATRIX(odd_a[i], 0, odd)
}

// The chunks of a step. There are two sets of them: while one is multiplied, the other one is on its way. Each has
// functions of its own, because an array that is passed to a function is copied. Past the end of K the last chunk is
// loaded, and counts as 0.
#define CHUNKS(name)                                                                                               \
    uvec4 name##_a[NI * TURNS], name##_b[NJ * TURNS];                                                              \
    uint name##_k;                                                                                                 \
    void load_##name(uint t) {                                                                                     \
        name##_k = k_of(t);                                                                                        \
        const uint k = existing(name##_k);                                                                         \
        [[unroll]] for (uint i = 0; i < NJ * TURNS; ++i) name##_b[i] = CHUNK(b, (from_b[i] + k) / PB);             \
        [[unroll]] for (uint i = 0; i < NI * TURNS; ++i) name##_a[i] = CHUNK(a, (from_a[i] + k) / PA);             \
    }                                                                                                              \
    void multiply_##name() {                                                                                       \
        [[unroll]] for (uint j = 0; j < NJ; ++j)                                                                   \
            take_b(j, or_zero(name##_b[j * TURNS], name##_k), or_zero(name##_b[(j + 1) * TURNS - 1], name##_k));   \
        [[unroll]] for (uint i = 0; i < NI; ++i)                                                                   \
            take_a(i, or_zero(name##_a[i * TURNS], name##_k), or_zero(name##_a[(i + 1) * TURNS - 1], name##_k));   \
        multiply_even(0, NI);                                                                                      \
        multiply_odd(0, NI);                                                                                       \
    }
CHUNKS(first)
CHUNKS(second)

void take_shared() {
    const uint own = SUBGROUP * MM * ROW_OWN;
    const uint put = own + LANE / RUN * ROW_OWN + LANE % RUN;
    [[unroll]] for (uint j = 0; j < NJ; ++j) {
        wait_for_subgroup();  // the last matrix has been read
        [[unroll]] for (uint i = 0; i < TURNS; ++i)
            tile[put + i * DOWN * ROW_OWN] = or_zero(first_b[j * TURNS + i], first_k);
        wait_for_subgroup();
        coopMatLoad(even_b[j], tile, own, ROW_OWN, COLUMNS);
        coopMatLoad(odd_b[j], tile, own + RUN / 2, ROW_OWN, COLUMNS);
    }
    [[unroll]] for (uint j = 0; j < NI; ++j) {
        wait_for_subgroup();
        [[unroll]] for (uint i = 0; i < TURNS; ++i)
            tile[put + i * DOWN * ROW_OWN] = or_zero(first_a[j * TURNS + i], first_k);
        wait_for_subgroup();
        coopMatLoad(even_a[j], tile, own, ROW_OWN, ROWS);
        coopMatLoad(odd_a[j], tile, own + RUN / 2, ROW_OWN, ROWS);
    }
}

#define NUMBER(x) A_UNIT(float(x))

// Does every invocation hold what its chunks bring? Element k of row r is r * MK + k here, which fits 8 bits.
bool registers_fit() {
    if (MM * MK != 256 || MK != 16 || TURNS != 2) return false;
    const uint own = SUBGROUP * MM * ROW_OWN, lane = LANE;
    uvec4 numbers;
    [[unroll]] for (uint i = 0; i < 4; ++i)
        numbers[i] = WORD_OF(NUMBER(8 * lane + 2 * i), NUMBER(8 * lane + 2 * i + 1));
    tile[own + lane / 2 * 3 + lane % 2] = numbers;
    wait_for_subgroup();
    coopMatLoad(even_a[0], tile, own, 3, ROWS);
    coopMatLoad(even_b[0], tile, own, 3, COLUMNS);
    if (even_a[0].length() != 8 || even_b[0].length() != 8) return false;
    turns_a = subgroupAll(abs(float(even_a[0][2]) - float(even_a[0][0])) > 16);
    turns_b = subgroupAll(abs(float(even_b[0][2]) - float(even_b[0][0])) > 16);
    bool fit = true;
    [[unroll]] for (uint e = 0; e < 8; ++e) {
        const uint first = 16 * (lane / RUN) + 2 * (lane % RUN) + e % 2;
        const uint by_turns = first + 128 * (e / 2 % 2) + 8 * (e / 4);
        const uint in_rows = first + 128 * (e / 4) + 8 * (e / 2 % 2);
        fit = fit && float(even_a[0][e]) == float(turns_a ? by_turns : in_rows);
        fit = fit && float(even_b[0][e]) == float(turns_b ? by_turns : in_rows);
    }
    return subgroupAll(fit);
}

// Subgroups that share a part of D load together: they read halves of the same lines of memory, which costs more if the
// halves are read at different times. The barrier is safe because all subgroups have the same number of steps. It was
// not timed with more than four subgroups: a multiprocessor holds fewer work groups of that size to fill the wait.
void load_together() {
    if (SHARES == 1 && BM <= 32 && SETS <= 4) barrier();
}

void sum_straight() {
    const bool fit = registers_fit();
    const uint down = LANE / RUN;
    [[unroll]] for (uint i = 0; i < NI * TURNS; ++i) from_a[i] = index_a(row0 + sub_row + i * DOWN + down, 0);
    [[unroll]] for (uint i = 0; i < NJ * TURNS; ++i) from_b[i] = index_b(0, col0 + sub_col + i * DOWN + down);
    if (fit) {
        load_first(0);
        for (uint t = 1; t <= steps; t += 2) {  // while one step's are multiplied, the next step's are on their way
            load_together();
            load_second(t);
            multiply_first();
            if (t == steps) break;
            load_together();
            load_first(t + 1);
            multiply_second();
        }
    } else {
        for (uint t = 0; t < steps; ++t) {
            load_together();
            load_first(t);
            take_shared();
            multiply_even(0, NI);
            multiply_odd(0, NI);
        }
    }
}

#endif
