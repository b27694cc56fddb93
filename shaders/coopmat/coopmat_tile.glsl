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

void find_copies() {
    const uint tid = gl_LocalInvocationIndex;
    of_a.down = KA ? shuffled(tid / ACROSS_A, ACROSS_A, DOWN_A) : tid / ACROSS_A, of_a.place = tid % ACROSS_A * PA;
    of_b.down = KB ? shuffled(tid / ACROSS_B, ACROSS_B, DOWN_B) : tid / ACROSS_B, of_b.place = tid % ACROSS_B * PB;
    of_a.put = (KA ? of_a.down : of_a.down % MK) * ROW_A + (KA ? of_a.place % MK : of_a.place) / PA;
    of_b.put = (KB ? of_b.down : of_b.down % MK) * ROW_B + (KB ? of_b.place % MK : of_b.place) / PB;
    of_a.base = batch * args.batch_a;
    of_a.base = (of_a.base + (KA ? (row0 + of_a.down) * args.lda + of_a.place
                                 : of_a.down * args.lda + row0 + of_a.place)) / PA;
    of_b.base = batch * args.batch_b;
    of_b.base = (of_b.base + (KB ? (col0 + of_b.down) * args.ldb + of_b.place
                                 : of_b.down * args.ldb + col0 + of_b.place)) / PB;
}

// The tile that the t-th step takes. Every work group walks a window of steps from a place of its own, so that few of
// them wait for the same memory at once. Past the end the last tile is loaded again and not used.
uint tile_at(uint t) {
    const uint s = min(t, steps - 1), first = s & ~(WINDOW - 1);
    return steps - first >= WINDOW ? first + ((s + phase) & (WINDOW - 1)) : s;
}

// Rows of a B that is not k-contiguous may be shared unevenly: then some invocations load the last row of the tile once
// more, and do not store it.
const bool EVEN_B = (KB ? 0 : WG % ACROSS_B + BK % DOWN_B + (MK % DOWN_B) * (DOWN_B % MK)) == 0;
uint down_b(uint i) { return EVEN_B ? of_b.down + i * DOWN_B : min(of_b.down + i * DOWN_B, BK - 1); }

#ifdef VKGEMM_MIXED
void fetch(uint t) {
    const uint k0 = k_begin + tile_at(t) * BK;
    [[unroll]] for (uint i = 0; i < LOADS_A; ++i) {
        const uint r = of_a.down + i * DOWN_A;
        next_a[i] = load8_near(true, KA, row0 + (KA ? r : of_a.place), k0 + (KA ? of_a.place : r));
    }
    [[unroll]] for (uint i = 0; i < LOADS_B; ++i) {
        const uint r = of_b.down + i * DOWN_B;
        next_b[i] = load8_near(false, KB, col0 + (KB ? r : of_b.place), k0 + (KB ? of_b.place : r));
    }
    k_next = k0;
}
uvec4 arrived_a(uint i) {
    const uint r = of_a.down + i * DOWN_A, row = row0 + (KA ? r : of_a.place), k = k_next + (KA ? of_a.place : r);
    return decode8_f16(true, next_a[i], !inside(row, k, args.m, k_end));
}
uvec4 arrived_b(uint i) {
    const uint r = of_b.down + i * DOWN_B, col = col0 + (KB ? r : of_b.place), k = k_next + (KB ? of_b.place : r);
    return decode8_f16(false, next_b[i], !inside(k, col, k_end, args.n));
}
#else
void fetch(uint t) {
    const uint k0 = k_begin + tile_at(t) * BK;
    const uint at_a = of_a.base + (KA ? k0 : k0 * args.lda) / PA, at_b = of_b.base + (KB ? k0 : k0 * args.ldb) / PB;
    [[unroll]] for (uint i = 0; i < LOADS_A; ++i) {
        const uint r = of_a.down + i * DOWN_A, row = row0 + (KA ? r : of_a.place), k = k0 + (KA ? of_a.place : r);
        if (FAST_A) next_a[i] = CHUNK(a, at_a + i * DOWN_A * (args.lda / PA));
        else next_a[i] = lower_a(row, k), more_a[i] = upper_a(row, k);
    }
    [[unroll]] for (uint i = 0; i < LOADS_B; ++i) {
        const uint r = down_b(i), col = col0 + (KB ? r : of_b.place), k = k0 + (KB ? of_b.place : r);
        if (FAST_B) next_b[i] = CHUNK(b, at_b + (EVEN_B ? i * DOWN_B : r - of_b.down) * (args.ldb / PB));
        else next_b[i] = lower_b(k, col), more_b[i] = upper_b(k, col);
    }
    k_next = k0;
}

// The i-th chunk of what has arrived.
uvec4 arrived_a(uint i) {
    const uint r = of_a.down + i * DOWN_A;
    return FAST_A ? next_a[i]
                  : chunk_a(row0 + (KA ? r : of_a.place), k_next + (KA ? of_a.place : r), next_a[i], more_a[i]);
}
uvec4 arrived_b(uint i) {
    const uint r = down_b(i);
    return FAST_B ? next_b[i]
                  : chunk_b(k_next + (KB ? of_b.place : r), col0 + (KB ? r : of_b.place), next_b[i], more_b[i]);
}

#endif

// Where a slot begins in shared memory.
uint slot_a(uint slot) { return slot * (KA ? HA : MK * ROW_A); }
uint slot_b(uint slot) { return SIZE_A + slot * (KB ? HB : MK * ROW_B); }

// The slice of the step that an invocation's i-th chunk belongs to. Loads of at most MK rows of k never cross one.
uint slice_of(bool k_contiguous, uint place, uint down, uint i, uint at_a_time) {
    return k_contiguous ? place / MK : at_a_time <= MK ? i * at_a_time / MK : (down + i * at_a_time) / MK;
}

// Stores the tile that has arrived: the even slice of every subgroup to slot `even`, its odd slice to slot `odd`.
void put(uint even, uint odd) {
    [[unroll]] for (uint i = 0; i < LOADS_A; ++i) {
        const uint s = slice_of(KA, of_a.place, of_a.down, i, DOWN_A), slot = s / 2 * HELD + (s % 2 != 0 ? odd : even);
        tile[of_a.put + slot_a(slot) + (KA ? i * DOWN_A : i * DOWN_A % MK) * ROW_A] = arrived_a(i);
    }
    [[unroll]] for (uint i = 0; i < LOADS_B; ++i) {
        const uint s = EVEN_B ? slice_of(KB, of_b.place, of_b.down, i, DOWN_B) : (of_b.down + i * DOWN_B) / MK;
        const uint slot = s / 2 * HELD + (s % 2 != 0 ? odd : even);
        const uint to = !EVEN_B ? of_b.place / PB + (of_b.down + i * DOWN_B) % MK * ROW_B
                                : of_b.put + (KB ? i * DOWN_B : i * DOWN_B % MK) * ROW_B;
        if (EVEN_B || (of_b.down < DOWN_B && of_b.down + i * DOWN_B < BK)) tile[to + slot_b(slot)] = arrived_b(i);
    }
}

#endif
