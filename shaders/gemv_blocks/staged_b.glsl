// SPDX-License-Identifier: MIT
// How a work group copies a step of its columns of B (chunk64.glsl) to shared memory: neighbours copy neighbouring
// units.
#ifndef VKGEMM_STAGED_B_GLSL
#define VKGEMM_STAGED_B_GLSL

// What an invocation copies of its column of B, if that is staged: every COPY-th unit of one or four words.
const uint COPY = WG / BN, UNITS = (COLUMN_WORDS + UNIT - 1) / UNIT;
const uint B_COPIES = (UNITS + COPY - 1) / COPY;
uvec4 copied_units[STAGED ? B_COPIES : 1];

// The byte where the step from k0 on begins in this column, as word_of_b counts bytes. All steps of a column begin the
// same number of bytes past a word. Columns past the last one read the last column: their sums are not stored.
uint begin_of(uint col, uint k0) {
    return (B_BEGIN.x & 3) + (batch * args.batch_b + nearest(col, args.n) * args.ldb) / BLOCK * BLOCK_BYTES +
           k0 / CHUNK64_BLOCK * CHUNK64_BYTES;
}

// Which unit of a column's step an invocation copies as its i-th.
uint unit_of(uint copier, uint i) { return i + 1 < B_COPIES ? copier + i * COPY : min(copier + i * COPY, UNITS - 1); }

// Loads the units of the step that begins at k0, of the column that begins at this byte. The last step may reach past
// k_end: there the last unit is read again.
void load_staged(uint column, uint k0) {
    const uint copier = gl_LocalInvocationIndex % COPY, from = min(k0, k_end - 64);
    const uint begin = (column + from / CHUNK64_BLOCK * CHUNK64_BYTES) & ~3u;
    if (k0 + STEP < k_end) {
        [[unroll]] for (uint i = 0; i < B_COPIES; ++i)
            copied_units[i] = unit_of_b(begin + 4 * UNIT * unit_of(copier, i));
    } else {
        const uint end = column + (k_end + CHUNK64_BLOCK - 1) / CHUNK64_BLOCK * CHUNK64_BYTES;
        [[unroll]] for (uint i = 0; i < B_COPIES; ++i)
            copied_units[i] = unit_of_b(min(begin + 4 * UNIT * (copier + i * COPY), (end - 1) & ~(4 * UNIT - 1)));
    }
}
void store_staged() {
    const uint copier = gl_LocalInvocationIndex % COPY, column = 4 * B_BASE + gl_LocalInvocationIndex / COPY * COLUMN;
    [[unroll]] for (uint i = 0; i < B_COPIES; ++i) {
        const uint w = column + UNIT * unit_of(copier, i);
        if (UNIT == 4) b_step[w / 4] = copied_units[i];
        else b_step[w / 4][w % 4] = copied_units[i].x;
    }
}

#endif
