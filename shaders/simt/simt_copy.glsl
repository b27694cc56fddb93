// SPDX-License-Identifier: MIT
// How simt copies the tiles of A and B: from memory to registers, and from there to shared memory, k by k. A wide
// operand is loaded by fours. Otherwise every invocation loads single elements, and neighbours load neighbours.
#ifndef VKGEMM_SIMT_COPY_GLSL
#define VKGEMM_SIMT_COPY_GLSL

const uint ROW_A = (BM + SIMT_PAD) / 4, ROW_B = (BN + SIMT_PAD) / 4;  // vectors from one k to the next
const bool KA = TRANS_A == 0, KB = TRANS_B != 0;  // is the operand k-contiguous?
const bool VEC4_OF_A = (ALIGNED & WIDE_A) != 0, VEC4_OF_B = (ALIGNED & WIDE_B) != 0;
const uint UNIT_A = VEC4_OF_A ? 4 : 1, UNIT_B = VEC4_OF_B ? 4 : 1;                // elements of a load
const uint ROWS_A = KA ? BM : BK, ROWS_B = KB ? BN : BK;                          // of the tile as stored in memory
const uint UNITS_A = (KA ? BK : BM) / UNIT_A, UNITS_B = (KB ? BK : BN) / UNIT_B;  // loads in such a row
// In how many parts the work group copies such a row: at a time it copies the same part of whole rows.
#define MISFIT(units, rows, parts) (units % parts + WG % ((units + parts - 1) / parts) + rows * (units / parts) % WG)
const uint UP_TO_3_A = MISFIT(UNITS_A, ROWS_A, 3) == 0 ? 3 : 4, UP_TO_3_B = MISFIT(UNITS_B, ROWS_B, 3) == 0 ? 3 : 4;
const uint UP_TO_2_A = MISFIT(UNITS_A, ROWS_A, 2) == 0 ? 2 : UP_TO_3_A;
const uint UP_TO_2_B = MISFIT(UNITS_B, ROWS_B, 2) == 0 ? 2 : UP_TO_3_B;
const uint PARTS_A = MISFIT(UNITS_A, ROWS_A, 1) == 0 ? 1 : UP_TO_2_A;
const uint PARTS_B = MISFIT(UNITS_B, ROWS_B, 1) == 0 ? 1 : UP_TO_2_B;
const uint LANES_A = UNITS_A / PARTS_A, LANES_B = UNITS_B / PARTS_B;  // neighbours that load neighbours
const uint DOWN_A = WG / LANES_A, DOWN_B = WG / LANES_B;              // rows that the work group loads at a time
const uint LOADS_A = BM * BK / UNIT_A / WG, LOADS_B = BN * BK / UNIT_B / WG;

shared acc4_t tile_a[SIMT_A(BM, BN, BK) / 4];
shared acc4_t tile_b[SIMT_B(BM, BN, BK) / 4];
acc4_t next_a[BM * BK / 4 / WG], next_b[BN * BK / 4 / WG];

// What an invocation copies of one operand. Load l is of row down + l / PARTS * DOWN of the tile as stored in memory,
// and of the elements of that row from (lane + l % PARTS * LANES) * UNIT on. starts_x has the index where each line (a
// row of A or a column of B) begins. A line beyond the operand is replaced by its last one: the sums are not in D.
uint down_a, lane_a, down_b, lane_b;
uint starts_a[KA ? LOADS_A : PARTS_A], starts_b[KB ? LOADS_B : PARTS_B];

// Indices in memory count from these, which move from tile to tile.
#if defined(VKGEMM_ADDRESSES) && !defined(VKGEMM_MIXED)
uvec2 from_a, from_b;
#define BEGIN(name) args.name
#define ONE_OF(X, x, i) LOAD(TYPE_##X, ONE_FROM(x, from_##x, i))
#define FOUR_OF(X, x, i) LOAD4(TYPE_##X, FOUR_FROM(x, from_##x, i))
void move(inout uvec2 from, uint elements, uint bytes) {
    uint high, low, carry;
    umulExtended(elements, bytes, high, low);
    from.x = uaddCarry(from.x, low, carry);
    from.y += high + carry;
}
#else
uint from_a, from_b;
#define BEGIN(name) 0
#define ONE_OF(X, x, i) PLAIN_##X##_AT(from_##x + i)
#define FOUR_OF(X, x, i) X##4_AT(from_##x + i)
void move(inout uint from, uint elements, uint bytes) { from += elements; }
#endif

// Elements of a load behind its first one, in the direction of fours. Of fours that are counted in fours, as those of
// plain modules, every element names all four.
#ifdef VKGEMM_MIXED
#define BEHIND(X, along) ((along) ? UNIT_##X - 1 : 0)
#else
#define BEHIND(X, along) 0
#endif

#define PLACES_OF(X, x)                                                      \
    uint down_of_##x(uint l) { return down_##x + l / PARTS_##X * DOWN_##X; } \
    uint along_##x(uint l) { return (lane_##x + l % PARTS_##X * LANES_##X) * UNIT_##X; }
PLACES_OF(A, a)
PLACES_OF(B, b)

// Begins with the tile at the first k of the work group. A line is a row of A or a column of B: `first` is the tile's
// first one, the operand has `count` of them, and LINE_OF maps one of the product to one in memory.
#define START(X, x, first, count, LINE_OF)                                                         \
    down_##x = gl_LocalInvocationIndex / LANES_##X;                                                \
    lane_##x = gl_LocalInvocationIndex % LANES_##X;                                                \
    [[unroll]] for (uint l = 0; l < (K##X ? LOADS_##X : PARTS_##X); ++l) {                         \
        const uint place = first + (K##X ? down_of_##x(l) : along_##x(l));                         \
        const uint line = LINE_OF(nearest(place, count - BEHIND(X, !K##X)));                       \
        starts_##x[l] = batch * args.batch_##x + line * (K##X ? args.ld##x : 1);                   \
    }                                                                                              \
    from_##x = BEGIN(x);                                                                           \
    move(from_##x, k_begin * (K##X ? 1 : args.ld##x), BYTES(TYPE_##X));
#define COL_OF_B(col) (col)
void start(uint row0, uint col0) {
    START(A, a, row0, args.m, ROW_OF_A)
    START(B, b, col0, args.n, COL_OF_B)
}

// Loads the next tile, of `depth` steps of k, to registers. The first tile may have fewer than BK; the rest of it
// becomes 0. All other tiles are whole, so that the loop tests nothing.
#define FETCH(X, x)                                                                         \
    [[unroll]] for (uint l = 0; l < LOADS_##X; ++l) {                                       \
        const uint q = K##X ? along_##x(l) : down_of_##x(l);                                \
        const uint k = first ? min(q, k_end - k_begin - 1 - BEHIND(X, K##X)) : q;           \
        const uint at = starts_##x[K##X ? l : l % PARTS_##X] + k * (K##X ? 1 : args.ld##x); \
        const bool is_beyond = WHOLE == 0 && first && q >= depth;                           \
        if (VEC4_OF_##X) next_##x[l] = FOUR_OF(X, x, at);                                   \
        else next_##x[l / 4][l % 4] = ONE_OF(X, x, at);                                     \
        if (VEC4_OF_##X && is_beyond) next_##x[l] = acc4_t(0);                              \
        if (!VEC4_OF_##X && is_beyond) next_##x[l / 4][l % 4] = 0;                          \
    }                                                                                       \
    move(from_##x, depth * (K##X ? 1 : args.ld##x), BYTES(TYPE_##X));
void fetch(bool first, uint depth) {
    FETCH(A, a)
    FETCH(B, b)
}

// Stores the tile that has arrived to shared memory. Written so that few addresses serve all stores: the rows that an
// invocation has of a k-contiguous operand are 1, 2 or a multiple of 4 apart.
#define PUT(X, x)                                                                                                  \
    [[unroll]] for (uint l = 0; l < LOADS_##X; ++l) {                                                              \
        const uint past = l / PARTS_##X * DOWN_##X, q = along_##x(l);                                              \
        if (K##X)                                                                                                  \
            [[unroll]] for (uint i = 0; i < UNIT_##X; ++i)                                                         \
                tile_##x[(q + i) * ROW_##X + down_##x / 4 + past / 4][down_##x % 4 + past % 4] =                   \
                    VEC4_OF_##X ? next_##x[l][i] : next_##x[l / 4][l % 4];                                         \
        else if (VEC4_OF_##X) tile_##x[down_##x * ROW_##X + q / 4 + past * ROW_##X] = next_##x[l];                 \
        else tile_##x[down_##x * ROW_##X + q / 4 + past * ROW_##X][q % 4] = next_##x[l / 4][l % 4];                \
    }
void put() {
    PUT(A, a)
    PUT(B, b)
}

#endif
