// SPDX-License-Identifier: MIT
// The fragments of one slice, and what is done with them. coopmat.comp includes this for each SLICE.
#define OF(name) VKGEMM_PASTE(name, SLICE)
#define SLICE_A VKGEMM_PASTE(SLICE, _a)
#define SLICE_B VKGEMM_PASTE(SLICE, _b)

A_MATRIX SLICE_A[NI];
B_MATRIX SLICE_B[NJ];

// Where the subgroup's fragments begin in a slot of shared memory.
uint OF(begin_a_)(uint slot) { return slot_a(set * HELD + slot) + (KA ? sub_row * ROW_A : sub_row / PA); }
uint OF(begin_b_)(uint slot) { return slot_b(set * HELD + slot) + (KB ? sub_col * ROW_B : sub_col / PB); }

// Read them from there: columns of matrices, and a row of them.
void OF(read_b_)(uint slot) {
    const uint at_b = OF(begin_b_)(slot);
    [[unroll]] for (uint j = 0; j < NJ; ++j)
        if (KB) coopMatLoad(SLICE_B[j], tile, at_b + j * MN * ROW_B, ROW_B, COLUMNS);
        else coopMatLoad(SLICE_B[j], tile, at_b + j * MN / PB, ROW_B, ROWS);
}
void OF(read_)(uint slot) {
    const uint at_a = OF(begin_a_)(slot);
    OF(read_b_)(slot);
    [[unroll]] for (uint i = 0; i < NI; ++i) READ_A(SLICE_A[i], at_a, i);
}

// Adds the products of the rows `from` to `to` of matrices.
void OF(multiply_)(uint from, uint to) {
    [[unroll]] for (uint i = from; i < to; ++i) ADD_PRODUCTS(i, SLICE_A[i], SLICE_B);
}

// The same for a whole slice, with one matrix of A at a time. If they are APART, each product is a block of its own:
// then a compiler adds it to its sums before it begins the next one, and does not hold all sums twice.
void OF(sum_)(uint slot) {
    const uint at_a = OF(begin_a_)(slot);
    OF(read_b_)(slot);
    [[unroll]] for (uint i = 0; i < NI; ++i) {
        if (APART && row0 + sub_row + i * MM >= args.m) continue;
        READ_A(SLICE_A[0], at_a, i);
        [[unroll]] for (uint j = 0; j < NJ; ++j)
            if (!APART || col0 + sub_col + j * MN < args.n) ADD_PRODUCT(i, j, SLICE_A[0], SLICE_B[j]);
    }
}

#undef OF
#undef SLICE_A
#undef SLICE_B
