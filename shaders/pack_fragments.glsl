// SPDX-License-Identifier: MIT
// The first pass of `coopmat_packed`: copies A or B to the workspace in the order in which the registers of a subgroup hold
// matrices, so that the product reads each of its fragments as one run of memory, straight into registers. Whatever
// the layout, the alignment and the size of the operand, what comes out is aligned, whole and filled up with zeros.
//
// Both operands are lines along k here: rows of A, columns of B (TRANS_B says which; TRANS_A: k is not the fast index).
// In the workspace, 16 bytes each: [batch][row_block of PACKED_ROW_BLOCK lines][slice of MK][part][matrix of the row_block]
// [invocation].
// PARTS: how many an element becomes, each a UNIT_A; 1 where the units take the type as it is.
// SCALED: a line is multiplied by the power of two that takes its largest element to between 2^14 and 2^15, so that
// every f32 finds a place in the range of f16. A work group takes whole lines then, and reads them twice; what the
// product has to multiply by is kept behind the parts, as an exponent.
#ifndef VKGEMM_WEAVE_GLSL
#define VKGEMM_WEAVE_GLSL
#include "gemm.glsl"
#include "chunk16.glsl"
#include "matrix.glsl"
#include "coopmat_packed.glsl"
#include "split_f32.glsl"

#ifdef VKGEMM_ADDRESSES
layout(buffer_reference, std430, buffer_reference_align = 16) writeonly restrict buffer packed_row { uvec4 at[]; };
#define WOVEN packed_row(args.d).at
const uint WOVEN_BEGIN = 0;
#else
layout(std430, set = 0, binding = BIND_D) writeonly restrict buffer packed_row_block { uvec4 at[]; } packed_row;
#define WOVEN packed_row.at
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

#ifdef SCALED
shared uint greatest[BM];  // of each line, the bits of its largest magnitude that is finite
int exponents(uint line) { return min(141 - int(greatest[line] >> 23), 126); }  // of its factor
#define SCALED_BY(x, line) scaled(x, line)
uvec4 scaled(uvec4 x, uint line) {
    const uvec4 lines = K_FAST ? uvec4(line) : line + uvec4(0, 1, 2, 3);
    const ivec4 up = ivec4(exponents(lines.x), exponents(lines.y), exponents(lines.z), exponents(lines.w));
    return floatBitsToUint(uintBitsToFloat(x) * uintBitsToFloat(uvec4(up + 127) << 23));
}
#else
#define SCALED_BY(x, line) x
#endif

// Place and first element of the i-th piece that this invocation brings to the tile: (line, k).
uvec2 place_of(uint i) {
    const uint e = i * WG + gl_LocalInvocationIndex, across = (K_FAST ? BN : BM) / P;
    return K_FAST ? uvec2(e / across, e % across * P) : uvec2(e % across * P, e / across);
}

uvec4 next_piece(uint line, uint k) { return piece_a(line + (K_FAST ? 0 : P / 2), k + (K_FAST ? P / 2 : 0)); }

// P elements from `from` in the tile on, in parts, to their place in it.
void put(uvec2 origin, uvec2 from) {
    const uint at = (K_FAST ? from.x : from.y) * ROW + (K_FAST ? from.y : from.x) / P;
    const uvec2 place = origin + from;
    uvec4 lower = piece_a(place.x, place.y);
    if (PARTS == 1) {
        tile[at] = lower;
        return;
    }
    uvec4 upper = next_piece(place.x, place.y);
    lower = SCALED_BY(lower, from.x), upper = SCALED_BY(upper, from.x + (K_FAST ? 0 : P / 2));
#if PARTS == 3
    if (!bf16_is_plain(lower) || !bf16_is_plain(upper)) {
        [[unroll]] for (uint part = 0; part < PARTS; ++part)
            tile[part * SIZE + at] = bf16_packed(bf16_part(lower, part), bf16_part(upper, part));
        return;
    }
#endif
    [[unroll]] for (uint part = 0; part < PARTS; ++part) {
        tile[part * SIZE + at] = FIRSTS(lower, upper);
        lower = REST(lower), upper = REST(upper);
    }
}

// The matrix of `line` and `k` in the tile, on to its place in the workspace.
#define WEAVE(MATRIX, k_rows, k_columns) {                                                                  \
    MATRIX m;                                                                                               \
    if (K_FAST) coopMatLoad(m, tile, part * SIZE + line * ROW + k / P, ROW, k_rows);                        \
    else coopMatLoad(m, tile, part * SIZE + k * ROW + line / P, ROW, k_columns);                            \
    if (m.length() * SG == SIDE * MK) WOVEN[at + gl_SubgroupInvocationID] = BITS_OF(m);                     \
    else coopMatStore(m, WOVEN, at, MK / P, k_rows); }

void pack_tile(uint row0, uint k0) {
    [[unroll]] for (uint i = 0; i < LOADS; ++i) put(uvec2(row0, k0), place_of(i));
    barrier();
    const uint slices = args.ldd / MK, across = PACKED_ROW_BLOCK / SIDE * SG;
    const uint begin = WOVEN_BEGIN + batch * (args.batch_d / P) * PARTS;
    for (uint i = gl_SubgroupID; i < MATRICES; i += WG / SG) {
        const uint line = i % (BM / SIDE) * SIDE, k = i / (BM / SIDE) * MK;
        const uint row_block = (row0 + line) / PACKED_ROW_BLOCK, slice = (k0 + k) / MK;
        if (slice >= slices) continue;
        [[unroll]] for (uint part = 0; part < PARTS; ++part) {
            const uint at = begin + ((row_block * slices + slice) * PARTS + part) * across +
                            (row0 + line) % PACKED_ROW_BLOCK / SIDE * SG;
            if (IS_B) WEAVE(B_MATRIX, COLUMNS, ROWS)
            else WEAVE(A_MATRIX, ROWS, COLUMNS)
        }
    }
}

#ifdef SCALED
uvec4 sizes(uvec4 x) { return mix(uvec4(0), x & 0x7fffffffu, IS_FINITE(x)); }
void record(uint line, uint size) {
    atomicMax(greatest[line], size, gl_ScopeWorkgroup, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
}

// Looks through the lines for their largest elements, and writes down what undoes their factors.
void measure(uint row0) {
    const uint tid = gl_LocalInvocationIndex;
    for (uint i = tid; i < BM; i += WG) greatest[i] = 0;
    barrier();
    [[unroll]] for (uint i = 0; i < LOADS; ++i) {
        const uvec2 from = place_of(i);
        uvec4 lower = uvec4(0), upper = uvec4(0);
        for (uint k = from.y; k < args.k; k += BN) {
            lower = max(lower, sizes(piece_a(row0 + from.x, k)));
            upper = max(upper, sizes(next_piece(row0 + from.x, k)));
        }
        if (K_FAST) {
            lower = max(lower, upper);
            record(from.x, max(max(lower.x, lower.y), max(lower.z, lower.w)));
        } else {
            [[unroll]] for (uint c = 0; c < P / 2; ++c) {
                record(from.x + c, lower[c]);
                record(from.x + P / 2 + c, upper[c]);
            }
        }
    }
    barrier();
    const uint factors = WOVEN_BEGIN + factors_of(args.m, args.ldd, args.batch, PARTS);
    for (uint i = 4 * tid; i < BM; i += 4 * WG)
        WOVEN[factors + (batch * whole_row_blocks(args.m) + row0 + i) / 4] =
            uvec4(-ivec4(exponents(i), exponents(i + 1), exponents(i + 2), exponents(i + 3)));
}
#endif

void main() {
    uint row0, k0;
    if (args.k == 0 || !tile_of(row0, k0)) return;
#ifdef SCALED
    measure(row0);
    for (; k0 < args.ldd; k0 += BN) {
        pack_tile(row0, k0);
        barrier();  // the tile is about to be overwritten
    }
#else
    pack_tile(row0, k0);
#endif
}

#endif
