// SPDX-License-Identifier: MIT
// The first pass of `woven`: copies A or B to the workspace in the order in which the registers of a subgroup hold
// matrices, so that the product reads each of its fragments as one run of memory, straight into registers. Whatever
// the layout, the alignment and the size of the operand, what comes out is aligned, whole and filled up with zeros.
//
// Both operands are lines along k here: rows of A, columns of B (TRANS_B says which; TRANS_A: k is not the fast index).
// In the workspace, 16 bytes each: [batch][stripe of WOVEN_STRIPE lines][slice of MK][part][matrix of the stripe]
// [invocation].
// PARTS: how many an element becomes, each a UNIT_A; 1 where the units take the type as it is.
#ifndef VKGEMM_WEAVE_GLSL
#define VKGEMM_WEAVE_GLSL
#include "gemm.glsl"
#include "pieces.glsl"
#include "matrix.glsl"
#include "woven.glsl"

#ifdef VKGEMM_ADDRESSES
layout(buffer_reference, std430, buffer_reference_align = 16) writeonly restrict buffer woven_line { uvec4 at[]; };
#define WOVEN woven_line(args.d).at
const uint WOVEN_BEGIN = 0;
#else
layout(std430, set = 0, binding = BIND_D) writeonly restrict buffer woven_line_block { uvec4 at[]; } woven_line;
#define WOVEN woven_line.at
#define WOVEN_BEGIN (args.d.x * BYTES(TYPE_A) / 16)
#endif

const uint P = PIECE(UNIT_A);                          // elements of a part in 16 bytes
const bool K_FAST = TRANS_A == 0, IS_B = TRANS_B != 0;
const uint ROW = (K_FAST ? BN : BM) / P + 1;         // an odd number of pieces: see coopmat
const uint SIZE = K_FAST ? WEAVE_PIECES(BM, BN, P) : WEAVE_PIECES(BN, BM, P);
shared uvec4 tile[PARTS * SIZE];

const uint SIDE = IS_B ? MN : MM;                    // lines of a matrix
const uint MATRICES = BM / SIDE * (BN / MK);         // of the tile
const uint LOADS = BM * BN / P / WG;

// P elements from (line, k) on, in parts, to their place in the tile.
void put(uint line, uint k, uint at) {
    uvec4 lower = piece_a(line, k);
    if (PARTS == 1) {
        tile[at] = lower;
        return;
    }
    uvec4 upper = piece_a(line + (K_FAST ? 0 : P / 2), k + (K_FAST ? P / 2 : 0));
    [[unroll]] for (uint part = 0; part < PARTS; ++part) {
        tile[part * SIZE + at] = upper_halves(lower, upper);
        lower = remainder(lower), upper = remainder(upper);
    }
}

// The matrix of `line` and `k` in the tile, on to its place in the workspace.
#define WEAVE(MATRIX, k_rows, k_columns) {                                                                  \
    MATRIX m;                                                                                               \
    if (K_FAST) coopMatLoad(m, tile, part * SIZE + line * ROW + k / P, ROW, k_rows);                        \
    else coopMatLoad(m, tile, part * SIZE + k * ROW + line / P, ROW, k_columns);                            \
    if (m.length() * SG == SIDE * MK) WOVEN[at + gl_SubgroupInvocationID] = BITS_OF(m);                     \
    else coopMatStore(m, WOVEN, at, MK / P, k_rows); }

void main() {
    uint row0, k0;
    if (args.k == 0 || !tile_of(row0, k0)) return;
    [[unroll]] for (uint i = 0; i < LOADS; ++i) {
        const uint e = i * WG + gl_LocalInvocationIndex, across = (K_FAST ? BN : BM) / P;
        const uvec2 at = uvec2(e / across, e % across * P);  // which row of the tile, which place in it
        put(row0 + (K_FAST ? at.x : at.y), k0 + (K_FAST ? at.y : at.x), at.x * ROW + at.y / P);
    }
    barrier();
    const uint slices = args.ldd / MK, across = WOVEN_STRIPE / SIDE * SG;
    const uint begin = WOVEN_BEGIN + batch * (args.batch_d / P) * PARTS;
    for (uint i = gl_SubgroupID; i < MATRICES; i += WG / SG) {
        const uint line = i % (BM / SIDE) * SIDE, k = i / (BM / SIDE) * MK;
        const uint stripe = (row0 + line) / WOVEN_STRIPE, slice = (k0 + k) / MK;
        if (slice >= slices) continue;
        [[unroll]] for (uint part = 0; part < PARTS; ++part) {
            const uint at = begin + ((stripe * slices + slice) * PARTS + part) * across +
                            (row0 + line) % WOVEN_STRIPE / SIDE * SG;
            if (IS_B) WEAVE(B_MATRIX, COLUMNS, ROWS)
            else WEAVE(A_MATRIX, ROWS, COLUMNS)
        }
    }
}

#endif
