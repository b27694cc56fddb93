// SPDX-License-Identifier: MIT
// How simt copies the tiles of A and B: from memory to registers, and from there to shared memory, k by k. A wide
// operand is loaded by fours. Of another, every invocation loads single elements, and neighbours load neighbours.
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

// What an invocation copies of one operand: load l is of row down + l / PARTS * DOWN of the tile as stored in memory,
// and of its elements from (lane + l % PARTS * LANES) * UNIT on. starts: where in memory rows of a k-contiguous operand
// begin, or columns of another. Rows and columns beyond the operand are its last one: what they add to is not in D.
uint down_a, lane_a, down_b, lane_b;
uint starts_a[KA ? LOADS_A : PARTS_A], starts_b[KB ? LOADS_B : PARTS_B];

// Indices in memory count from these, which move from tile to tile.
#if defined(VKGEMM_ADDRESSES) && !defined(VKGEMM_MIXED)
uvec2 from_a, from_b;
#define BEGIN(name) args.name
#define ONE_OF_A(i) LOAD(TYPE_A, ONE_FROM(a, from_a, i))
#define ONE_OF_B(i) LOAD(TYPE_B, ONE_FROM(b, from_b, i))
#define FOUR_OF_A(i) LOAD4(TYPE_A, FOUR_FROM(a, from_a, i))
#define FOUR_OF_B(i) LOAD4(TYPE_B, FOUR_FROM(b, from_b, i))
void move(inout uvec2 from, uint elements, uint bytes) {
    uint high, low, carry;
    umulExtended(elements, bytes, high, low);
    from.x = uaddCarry(from.x, low, carry);
    from.y += high + carry;
}
#else
uint from_a, from_b;
#define BEGIN(name) 0
#define ONE_OF_A(i) PLAIN_A_AT(from_a + i)
#define ONE_OF_B(i) PLAIN_B_AT(from_b + i)
#define FOUR_OF_A(i) A4_AT(from_a + i)
#define FOUR_OF_B(i) B4_AT(from_b + i)
void move(inout uint from, uint elements, uint bytes) { from += elements; }
#endif

uint down_of_a(uint l) { return down_a + l / PARTS_A * DOWN_A; }
uint down_of_b(uint l) { return down_b + l / PARTS_B * DOWN_B; }
uint along_a(uint l) { return (lane_a + l % PARTS_A * LANES_A) * UNIT_A; }
uint along_b(uint l) { return (lane_b + l % PARTS_B * LANES_B) * UNIT_B; }

// Begins with the tile at the first k of the work group.
void start(uint row0, uint col0) {
    down_a = gl_LocalInvocationIndex / LANES_A, lane_a = gl_LocalInvocationIndex % LANES_A;
    down_b = gl_LocalInvocationIndex / LANES_B, lane_b = gl_LocalInvocationIndex % LANES_B;
    [[unroll]] for (uint l = 0; l < (KA ? LOADS_A : PARTS_A); ++l) {
        const uint row = ROW_OF_A(nearest(row0 + (KA ? down_of_a(l) : along_a(l)), args.m));
        starts_a[l] = batch * args.batch_a + row * (KA ? args.lda : 1);
    }
    [[unroll]] for (uint l = 0; l < (KB ? LOADS_B : PARTS_B); ++l) {
        const uint col = nearest(col0 + (KB ? down_of_b(l) : along_b(l)), args.n);
        starts_b[l] = batch * args.batch_b + col * (KB ? args.ldb : 1);
    }
    from_a = BEGIN(a), from_b = BEGIN(b);
    move(from_a, k_begin * (KA ? 1 : args.lda), BYTES(TYPE_A));
    move(from_b, k_begin * (KB ? 1 : args.ldb), BYTES(TYPE_B));
}

// Loads the next tile, of `depth` k, to registers. The first one may have less than BK, and what is beyond becomes 0.
// All others are whole, so that nothing is tested in the loop.
#define FETCH(X, x)                                                                                                \
    [[unroll]] for (uint l = 0; l < LOADS_##X; ++l) {                                                              \
        const uint q = K##X ? along_##x(l) : down_of_##x(l), k = first ? min(q, k_end - k_begin - 1) : q;          \
        const uint at = starts_##x[K##X ? l : l % PARTS_##X] + k * (K##X ? 1 : args.ld##x);                        \
        const bool is_beyond = WHOLE == 0 && first && q >= depth;                                                  \
        if (VEC4_OF_##X) next_##x[l] = FOUR_OF_##X(at);                                                            \
        else next_##x[l / 4][l % 4] = ONE_OF_##X(at);                                                              \
        if (VEC4_OF_##X && is_beyond) next_##x[l] = acc4_t(0);                                                     \
        if (!VEC4_OF_##X && is_beyond) next_##x[l / 4][l % 4] = 0;                                                 \
    }
void fetch(bool first, uint depth) {
    FETCH(A, a)
    FETCH(B, b)
    move(from_a, depth * (KA ? 1 : args.lda), BYTES(TYPE_A));
    move(from_b, depth * (KB ? 1 : args.ldb), BYTES(TYPE_B));
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
