// SPDX-License-Identifier: MIT
// Converts a matrix to chunks of 16 bytes and back: the first of each invocation of the subgroup, then the second of
// each (there is only one, unless matrices are large). The driver chooses which elements an invocation holds. The
// shaders rely only on this choice being the same for every matrix of one kind. If invocations hold elements twice
// (length() shows it), matrices are stored in the workspace row by row instead. So are those of bytes, which a driver
// would move one by one.
#ifndef VKGEMM_COOPMAT_PACKED_GLSL
#define VKGEMM_COOPMAT_PACKED_GLSL

#include "common/matrix_pairs.glsl"
#include "common/row_block.h"

// Whether a matrix of so many elements is stored in that order.
#ifdef TYPE_A_IS_I8
#define IN_ORDER(m, elements) false
#else
#define IN_ORDER(m, elements) (m.length() * SG == elements)
#endif

// The chunks of an operand as an array for coopMatLoad, and the index in it of the operand's first one.
#ifdef VKGEMM_ADDRESSES
#define CHUNKS(name) chunks(args.name).at
#define FIRST_CHUNK(name) 0
#else
#define CHUNKS(name) name##_chunks.at
#define FIRST_CHUNK(name) (args.name.x / (16 / name##_bytes))
#endif

// The chunk where the factors of an operand's rows begin, one word each, behind the parts of all its rows.
uint whole_row_blocks(uint rows) { return (rows + PACKED_ROW_BLOCK - 1) / PACKED_ROW_BLOCK * PACKED_ROW_BLOCK; }
uint factors_of(uint rows, uint ld, uint batches, uint parts) {
    return batches * whole_row_blocks(rows) * ld / 8 * parts;
}

// Every work group walks a window of steps from a place of its own, so that few wait for the same memory at once.
const uint WINDOW = 8;  // steps of two slices
uint walked(uint t, uint steps, uint phase) {
    const uint s = min(t, steps - 1), first = s & ~(WINDOW - 1);
    return steps - first >= WINDOW ? first + ((s + phase) & (WINDOW - 1)) : s;
}

// The chunk where the subgroup's first fragment begins; a slice of a row block has `across`. Rows past the end read the
// last row block and are not stored.
uint begin_of(uint row, uint rows, uint row_block, uint across, uint slices) {
    return min(row / row_block, (rows - 1) / row_block) * slices * across + row % row_block * across / row_block;
}

#endif
