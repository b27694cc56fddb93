// SPDX-License-Identifier: MIT
// The first pass where an operand lies badly: copies it to the workspace so that the product can read it 16 bytes
// at a time, with its rows beginning on 16 bytes and filled up with zeros; where TRANS_B differs from TRANS_A also
// transposed, so that the other index is the fast one. In terms of A: m rows, k columns (n = k), from A to D, D
// being the workspace. Elements are moved, not understood: a type of the same size stands for all.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "gemm.glsl"
#include "chunk16.glsl"

#ifdef VKGEMM_ADDRESSES
layout(buffer_reference, std430, buffer_reference_align = 16) writeonly restrict buffer packed_line { uvec4 at[]; };
#define PACKED(i) packed_line(args.d).at[i]
#else
layout(std430, set = 0, binding = BIND_D) writeonly restrict buffer packed_line_block { uvec4 at[]; } packed_line;
#define PACKED(i) packed_line.at[args.d.x / P + (i)]
#endif

const uint P = PIECE(TYPE_A), BITS = 8 * BYTES(TYPE_A);
const bool TURNED = TRANS_A != TRANS_B;
const uint ACROSS_IN = (TRANS_A != 0 ? BM : BN) / P, ACROSS_OUT = (TRANS_B != 0 ? BM : BN) / P;  // pieces in a line
shared uint cell[TURNED ? BM * (BN + 1) : 1];  // one element each, row by row

// (row, column) in the tile of the i-th piece, of lines of `across` pieces; columns: lines run down the rows.
uvec2 place(uint i, uint across, bool columns) {
    const uvec2 at = uvec2(i / across, i % across * P);
    return columns ? at.yx : at;
}

void write_piece(uint row, uint col, uvec4 piece) {
    const uint line = TRANS_B != 0 ? col : row, along = TRANS_B != 0 ? row : col;
    if (row < args.m && col < args.k) PACKED((batch * args.batch_d + line * args.ldd + along) / P) = piece;
}

void main() {
    uint row0, col0;
    if (args.k == 0 || !tile_of(row0, col0)) return;
    for (uint i = gl_LocalInvocationIndex; i < BM * BN / P; i += WG) {
        const uvec2 at = place(i, ACROSS_IN, TRANS_A != 0);
        const uvec4 piece = piece_a(row0 + at.x, col0 + at.y);
        if (!TURNED) {
            write_piece(row0 + at.x, col0 + at.y, piece);
            continue;
        }
        [[unroll]] for (uint e = 0; e < P; ++e) {
            const uvec2 next = TRANS_A != 0 ? uvec2(e, 0) : uvec2(0, e);
            const uint word = piece[e * BITS / 32] >> (e * BITS % 32);
            cell[(at.x + next.x) * (BN + 1) + at.y + next.y] = BITS == 32 ? word : word & ((1u << (BITS % 32)) - 1);
        }
    }
    if (!TURNED) return;
    barrier();
    for (uint i = gl_LocalInvocationIndex; i < BM * BN / P; i += WG) {
        const uvec2 at = place(i, ACROSS_OUT, TRANS_B != 0);
        uvec4 piece = uvec4(0);
        [[unroll]] for (uint e = 0; e < P; ++e) {
            const uvec2 next = TRANS_B != 0 ? uvec2(e, 0) : uvec2(0, e);
            piece[e * BITS / 32] |= cell[(at.x + next.x) * (BN + 1) + at.y + next.y] << (e * BITS % 32);
        }
        write_piece(row0 + at.x, col0 + at.y, piece);
    }
}
