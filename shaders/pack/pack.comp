// SPDX-License-Identifier: MIT
// The first pass for an operand whose layout is unfavourable or misaligned. It copies the operand to the workspace,
// where rows begin on 16 bytes and are filled up with zeros, so that the product can read it 16 bytes at a time. If
// TRANS_B differs from TRANS_A, it also transposes it, so that the other index is contiguous. It grows from `tiled`,
// whose tile in shared memory it transposes.
//
//     A, m x k                    tile BM x BN                    D, the workspace
//     +------+------+---+         in shared memory, one           +--------+-----
//     |      |      |   |         element a word, rows of         | 16 B   | ...   rows (or columns) of whole chunks
//     +------+------+---+   ->    BN + 1 words                ->  +--------+-----
//     |      |      |   |         (only where it is               | 16 B   | ...   an invocation writes one chunk
//     +------+------+---+          transposed)                    +--------+-----  at a time
//      a work group each
//
// A has m rows and k columns (n = k). Elements are moved as bits, so one module serves all types of the same size.
#extension GL_GOOGLE_include_directive : require
#include "common/gemm.glsl"
#include "common/chunk16.glsl"
#include "pack/shared_memory.h"

#ifdef VKGEMM_ADDRESSES
layout(buffer_reference, std430, buffer_reference_align = 16) writeonly restrict buffer packed_row { uvec4 at[]; };
#define PACKED(i) packed_row(args.d).at[i]
#else
layout(std430, set = 0, binding = BIND_D) writeonly restrict buffer packed_row_block { uvec4 at[]; } packed_row;
#define PACKED(i) packed_row.at[args.d.x / P + (i)]
#endif

const uint P = PER_CHUNK(TYPE_A), BITS = 8 * BYTES(TYPE_A);
const uint WORDS = (BITS + 31) / 32;  // of an element
const uint UNIT = P > 4 ? P : 4;       // elements that a product may read at a time, which are all written
const bool TRANSPOSED = TRANS_A != TRANS_B;
const uint ACROSS_IN = (TRANS_A != 0 ? BM : BN) / P, ACROSS_OUT = (TRANS_B != 0 ? BM : BN) / P;  // chunks in a row
shared uint cell[TRANSPOSED ? PACK_CELLS(BM, BN, BYTES(TYPE_A)) : 1];  // WORDS an element, row by row

// (row, column) in the tile of the i-th chunk. A row has `across` chunks; `columns` means that columns are contiguous.
uvec2 place(uint i, uint across, bool columns) {
    const uvec2 at = uvec2(i / across, i % across * P);
    return columns ? at.yx : at;
}

void write_chunk(uint row, uint col, uvec4 chunk) {
    const uint outer = TRANS_B != 0 ? col : row, inner = TRANS_B != 0 ? row : col;
    const uint outers = TRANS_B != 0 ? args.k : args.m, inners = TRANS_B != 0 ? args.m : args.k;
    if (outer < outers && inner / UNIT * UNIT < inners)
        PACKED((batch * args.batch_d + outer * args.ldd + inner) / P) = chunk;
}

void main() {
    uint row0, col0;
    if (args.k == 0 || !tile_of(row0, col0)) return;
    for (uint i = gl_LocalInvocationIndex; i < BM * BN / P; i += WG) {
        const uvec2 at = place(i, ACROSS_IN, TRANS_A != 0);
        const uvec4 chunk = chunk_a(row0 + at.x, col0 + at.y);
        if (!TRANSPOSED) {
            write_chunk(row0 + at.x, col0 + at.y, chunk);
            continue;
        }
        [[unroll]] for (uint e = 0; e < P; ++e) {
            const uvec2 next = TRANS_A != 0 ? uvec2(e, 0) : uvec2(0, e);
            [[unroll]] for (uint w = 0; w < WORDS; ++w) {
                const uint word = chunk[e * BITS / 32 + w] >> (e * BITS % 32);
                cell[((at.x + next.x) * (BN + 1) + at.y + next.y) * WORDS + w] =
                    BITS >= 32 ? word : word & ((1u << (BITS % 32)) - 1);
            }
        }
    }
    if (!TRANSPOSED) return;
    barrier();  // the tile is complete
    for (uint i = gl_LocalInvocationIndex; i < BM * BN / P; i += WG) {
        const uvec2 at = place(i, ACROSS_OUT, TRANS_B != 0);
        uvec4 chunk = uvec4(0);
        [[unroll]] for (uint e = 0; e < P; ++e) {
            const uvec2 next = TRANS_B != 0 ? uvec2(e, 0) : uvec2(0, e);
            [[unroll]] for (uint w = 0; w < WORDS; ++w)
                chunk[e * BITS / 32 + w] |=
                    cell[((at.x + next.x) * (BN + 1) + at.y + next.y) * WORDS + w] << (e * BITS % 32);
        }
        write_chunk(row0 + at.x, col0 + at.y, chunk);
    }
}
