// SPDX-License-Identifier: MIT
// How coopmat brings a tile of A and of B from memory to registers (fetch) and on to shared memory (put), 16 bytes at a
// time. Included by coopmat.comp, which says how the tile is cut and what an invocation copies.
#ifndef VKGEMM_COOPMAT_TILE_GLSL
#define VKGEMM_COOPMAT_TILE_GLSL

// Eight invocations that store together must meet eight banks: rows of two or four pieces are taken out of order.
uint shuffled(uint row, uint across, uint down) {
    if (down < 8) return row;
    if (across == 4) return (row & ~7u) | (row & 1) << 2 | (row >> 1 & 3);
    return across == 2 ? (row & ~7u) | (row & 3) << 1 | (row >> 2 & 1) : row;
}

// Which tile the t-th step works on. Every work group walks a window of steps from a place of its own, so that few of
// them wait for the same memory at once. Past the end the last tile is loaded again, and never used.
uint tile_at(uint t) {
    const uint s = min(t, steps - 1), first = s & ~(WINDOW - 1);
    return steps - first >= WINDOW ? first + ((s + phase) & (WINDOW - 1)) : s;
}

void fetch(uint t) {
    const uint k0 = k_begin + tile_at(t) * BK;
    const uint at_a = base_a + (KA ? k0 : k0 * args.lda) / PA, at_b = base_b + (KB ? k0 : k0 * args.ldb) / PB;
    [[unroll]] for (uint i = 0; i < LOADS_A; ++i) {
        const uint r = down_a + i * DOWN_A, row = row0 + (KA ? r : place_a), k = k0 + (KA ? place_a : r);
        if (FAST_A) next_a[i] = WIDE(a, at_a + i * DOWN_A * (args.lda / PA));
        else next_a[i] = lower_a(row, k), more_a[i] = upper_a(row, k);
    }
    [[unroll]] for (uint i = 0; i < LOADS_B; ++i) {
        const uint r = down_b + i * DOWN_B, col = col0 + (KB ? r : place_b), k = k0 + (KB ? place_b : r);
        if (FAST_B) next_b[i] = WIDE(b, at_b + i * DOWN_B * (args.ldb / PB));
        else next_b[i] = lower_b(k, col), more_b[i] = upper_b(k, col);
    }
    k_next = k0;
}

uvec4 arrived_a(uint i) {
    const uint r = down_a + i * DOWN_A;
    return FAST_A ? next_a[i] : piece_a(row0 + (KA ? r : place_a), k_next + (KA ? place_a : r), next_a[i], more_a[i]);
}
uvec4 arrived_b(uint i) {
    const uint r = down_b + i * DOWN_B;
    return FAST_B ? next_b[i] : piece_b(k_next + (KB ? place_b : r), col0 + (KB ? r : place_b), next_b[i], more_b[i]);
}

uint slot_a(uint slot) { return slot * (KA ? HA : MK * ROW_A); }
uint slot_b(uint slot) { return SIZE_A + slot * (KB ? HB : MK * ROW_B); }

// The slice of the step that an invocation's i-th piece belongs to. Loads of at most MK rows of k never cross one.
uint slice_of(bool along_k, uint place, uint down, uint i, uint at_a_time) {
    return along_k ? place / MK : at_a_time <= MK ? i * at_a_time / MK : (down + i * at_a_time) / MK;
}

// Stores the tile that has arrived: of every subgroup's two slices the even one to one slot, the odd one to another.
void put(uint even, uint odd) {
    [[unroll]] for (uint i = 0; i < LOADS_A; ++i) {
        const uint s = slice_of(KA, place_a, down_a, i, DOWN_A), slot = s / 2 * HELD + (s % 2 != 0 ? odd : even);
        tile[put_a + slot_a(slot) + (KA ? i * DOWN_A : i * DOWN_A % MK) * ROW_A] = arrived_a(i);
    }
    [[unroll]] for (uint i = 0; i < LOADS_B; ++i) {
        const uint s = slice_of(KB, place_b, down_b, i, DOWN_B), slot = s / 2 * HELD + (s % 2 != 0 ? odd : even);
        tile[put_b + slot_b(slot) + (KB ? i * DOWN_B : i * DOWN_B % MK) * ROW_B] = arrived_b(i);
    }
}

#endif
