// SPDX-License-Identifier: MIT
// How coopmat copies a tile of A and of B from memory to registers (fetch) and from there to shared memory (put), 16
// bytes at a time. coopmat.comp, which includes this, shows the tile.
#ifndef VKGEMM_COOPMAT_TILE_GLSL
#define VKGEMM_COOPMAT_TILE_GLSL

const uint WINDOW = 32;  // steps

// What an invocation copies of one operand: its first row of the tile as stored in memory, the place in that row
// (elements), and where the first chunk is: in memory for the first step, in shared memory for the first slot (chunks).
struct Copy {
    uint down, place, base, put;
};
Copy of_a, of_b;
#ifdef VKGEMM_MIXED
Packed8 next_a[LOADS_A], next_b[LOADS_B];  // the tile in flight
#else
uvec4 next_a[LOADS_A], next_b[LOADS_B], more_a[LOADS_A], more_b[LOADS_B];  // the tile in flight: lower, upper chunks
#endif
uint k_next;  // and its first k

// Eight invocations that store together must use eight banks, so rows of two or four chunks are taken out of order.
uint shuffled(uint row, uint across, uint down) {
    if (down < 8) return row;
    if (across == 4) return (row & ~7u) | (row & 1) << 2 | (row >> 1 & 3);
    return across == 2 ? (row & ~7u) | (row & 3) << 1 | (row >> 2 & 1) : row;
}

// A and B are copied alike: X is A or B, and x is a or b. A line is a row of A or a column of B. LINE0_X is the tile's
// first one, and the operand has LINES_X. ROW_COL_X is the order in which functions take a line and a k.
#define LINE0_A row0
#define LINE0_B col0
#define LINES_A args.m
#define LINES_B args.n
#define ROW_COL_A(line, k) line, k
#define ROW_COL_B(line, k) k, line

#define FIND_COPY(X, x)                                                                        \
    of_##x.down = K##X ? shuffled(tid / ACROSS_##X, ACROSS_##X, DOWN_##X) : tid / ACROSS_##X;  \
    of_##x.place = tid % ACROSS_##X * P##X;                                                    \
    of_##x.put = (K##X ? of_##x.down : of_##x.down % MK) * ROW_##X +                           \
                 (K##X ? of_##x.place % MK : of_##x.place) / P##X;                             \
    of_##x.base = batch * args.batch_##x;                                                      \
    of_##x.base = (of_##x.base + (K##X ? (LINE0_##X + of_##x.down) * args.ld##x + of_##x.place \
                                       : of_##x.down * args.ld##x + LINE0_##X + of_##x.place)) / P##X;
void find_copies() {
    const uint tid = gl_LocalInvocationIndex;
    FIND_COPY(A, a)
    FIND_COPY(B, b)
}

// The tile that the t-th step takes. Every work group walks a window of steps from a place of its own, so that few of
// them wait for the same memory at once. Past the end the last tile is loaded again and not used.
uint tile_at(uint t) {
    const uint s = min(t, steps - 1), first = s & ~(WINDOW - 1);
    return steps - first >= WINDOW ? first + ((s + phase) & (WINDOW - 1)) : s;
}

// Rows of a B that is not k-contiguous may be shared unevenly: then some invocations load the last row of the tile once
// more, and do not store it.
const bool EVEN_A = true;
const bool EVEN_B = (KB ? 0 : WG % ACROSS_B + BK % DOWN_B + (MK % DOWN_B) * (DOWN_B % MK)) == 0;

// FETCH loads an operand's tile, whose first k is k0. arrived_x makes the i-th chunk of what FETCH has loaded.
#ifdef VKGEMM_MIXED
#define FETCH(X, x, is_a)                                                                                            \
    [[unroll]] for (uint i = 0; i < LOADS_##X; ++i) {                                                                \
        const uint r = of_##x.down + i * DOWN_##X;                                                                   \
        next_##x[i] = load8_near(is_a, K##X, LINE0_##X + (K##X ? r : of_##x.place), k0 + (K##X ? of_##x.place : r)); \
    }
#define ARRIVED(X, x, is_a)                                                                              \
    uvec4 arrived_##x(uint i) {                                                                          \
        const uint r = of_##x.down + i * DOWN_##X;                                                       \
        const uint line = LINE0_##X + (K##X ? r : of_##x.place), k = k_next + (K##X ? of_##x.place : r); \
        const bool is_inside = inside(ROW_COL_##X(line, k), ROW_COL_##X(LINES_##X, k_end));              \
        return decode8_f16(is_a, next_##x[i], !is_inside);                                               \
    }
#else
#define DOWN_OF(X, x, i) (EVEN_##X ? of_##x.down + i * DOWN_##X : min(of_##x.down + i * DOWN_##X, BK - 1))
#define FETCH(X, x, is_a)                                                                                       \
    const uint at_##x = of_##x.base + (K##X ? k0 : k0 * args.ld##x) / P##X;                                     \
    [[unroll]] for (uint i = 0; i < LOADS_##X; ++i) {                                                           \
        const uint r = DOWN_OF(X, x, i);                                                                        \
        const uint line = LINE0_##X + (K##X ? r : of_##x.place), k = k0 + (K##X ? of_##x.place : r);            \
        if (FAST_##X) {                                                                                         \
            next_##x[i] = CHUNK(x, at_##x + (EVEN_##X ? i * DOWN_##X : r - of_##x.down) * (args.ld##x / P##X)); \
        } else {                                                                                                \
            next_##x[i] = lower_##x(ROW_COL_##X(line, k));                                                      \
            more_##x[i] = upper_##x(ROW_COL_##X(line, k));                                                      \
        }                                                                                                       \
    }
#define ARRIVED(X, x, is_a)                                                                              \
    uvec4 arrived_##x(uint i) {                                                                          \
        const uint r = DOWN_OF(X, x, i);                                                                 \
        const uint line = LINE0_##X + (K##X ? r : of_##x.place), k = k_next + (K##X ? of_##x.place : r); \
        return FAST_##X ? next_##x[i] : chunk_##x(ROW_COL_##X(line, k), next_##x[i], more_##x[i]);       \
    }
#endif
void fetch(uint t) {
    const uint k0 = k_begin + tile_at(t) * BK;
    FETCH(A, a, true)
    FETCH(B, b, false)
    k_next = k0;
}
ARRIVED(A, a, true)
ARRIVED(B, b, false)

// Where a slot begins in shared memory.
uint slot_a(uint slot) { return slot * (KA ? HA : MK * ROW_A); }
uint slot_b(uint slot) { return SIZE_A + slot * (KB ? HB : MK * ROW_B); }

// The slice of the step that an invocation's i-th chunk belongs to. Loads of at most MK rows of k never cross one.
uint slice_of(bool k_contiguous, uint place, uint down, uint i, uint at_a_time) {
    return k_contiguous ? place / MK : at_a_time <= MK ? i * at_a_time / MK : (down + i * at_a_time) / MK;
}

// Stores the tile that has arrived: the even slice of every subgroup to slot `even`, its odd slice to slot `odd`.
#define PUT(X, x)                                                                                          \
    [[unroll]] for (uint i = 0; i < LOADS_##X; ++i) {                                                      \
        const uint down = of_##x.down + i * DOWN_##X;                                                      \
        const uint s = EVEN_##X ? slice_of(K##X, of_##x.place, of_##x.down, i, DOWN_##X) : down / MK;      \
        const uint slot = s / 2 * HELD + (s % 2 != 0 ? odd : even);                                        \
        const uint to = EVEN_##X ? of_##x.put + (K##X ? i * DOWN_##X : i * DOWN_##X % MK) * ROW_##X        \
                                 : of_##x.place / P##X + down % MK * ROW_##X;                              \
        if (EVEN_##X || (of_##x.down < DOWN_##X && down < BK)) tile[to + slot_##x(slot)] = arrived_##x(i); \
    }
void put(uint even, uint odd) {
    PUT(A, a)
    PUT(B, b)
}

#endif
