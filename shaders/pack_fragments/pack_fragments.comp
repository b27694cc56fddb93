// SPDX-License-Identifier: MIT
// The first pass of `coopmat_packed`, bf16x3 and f16x2: copies A or B to the workspace in the order in which the
// registers of a subgroup hold matrices, so that the product reads each of its fragments as one run of memory, straight
// into registers. The result is aligned, and filled up with zeros to whole matrices, for any layout, alignment and size
// of the operand. It grows from `pack`.
//
//     the operand, as rows along k         shared memory             the workspace
//     +------+------+------+               +----+----+ MM            +--------------+---+-----+--------+
//     |tile: |      |      |               |    |    |               | invocation 0 | 1 | ... | SG - 1 |
//     |BM x  |      |      |     ->        +----+----+       ->      +--------------+---+-----+--------+
//     |BN    |      |      |               |    |    |                16 bytes each: one matrix of MM x MK, loaded as
//     +------+------+------+               +----+----+                the product would, and written as it is held
//      a work group each                    MK: a subgroup each
//
// Both operands are rows along k here: A's rows, B's columns (TRANS_B: it is B; TRANS_A: the operand is not
// k-contiguous). The workspace, in chunks: [batch][row block][slice of MK][part]
// [matrix of the row block][chunk of it][invocation].
//
// An element becomes PARTS parts of type UNIT_A: one if the units take the type as it is. bf16x3 splits f32 into three
// bf16, f16x2 into two f16. Elements of mixed types are decoded and rounded to f16; their rows in memory are a multiple
// of eight elements. With SCALED, a row is multiplied by the power of two that brings its largest element to between
// 2^14 and 2^15, so that every f32 fits the range of f16. A work group then takes whole rows and reads them twice. The
// exponents that undo the factors are stored behind the parts.
#extension GL_GOOGLE_include_directive : require
#define VKGEMM_MATRIX_UNITS
#ifdef VARIANT_BF16X3
#define UNIT_A bf16
#define UNIT_B bf16
#define PARTS 3
#elif defined(VARIANT_F16X2)
#define UNIT_A f16
#define UNIT_B f16
#define PARTS 2
#define SCALED
#elif defined(VARIANT_MIXED)
#define UNIT_A f16
#define UNIT_B f16
#define PARTS 1
#else
#define PARTS 1
#endif
#include "common/gemm.glsl"
#include "common/shared_memory.h"
#ifdef VKGEMM_MIXED
#define PER_CHUNK(type) (16 / BYTES(type))
#else
#include "common/chunk16.glsl"
#endif
#include "common/matrix.glsl"
#include "common/fragments.glsl"
#include "common/split_f32.glsl"

#ifdef VKGEMM_ADDRESSES
layout(buffer_reference, std430, buffer_reference_align = 16) writeonly restrict buffer packed_row { uvec4 at[]; };
#define PACKED packed_row(args.d).at
const uint PACKED_BEGIN = 0;
#else
layout(std430, set = 0, binding = BIND_D) writeonly restrict buffer packed_row_block { uvec4 at[]; } packed_row;
#define PACKED packed_row.at
#define PACKED_BEGIN (args.d.x * BYTES(TYPE_D) / 16)
#endif

const uint P = PER_CHUNK(UNIT_A);                      // elements of a part in 16 bytes
const uint ROW_BLOCK = ROW_BLOCK_OF(BM);
const bool K_CONTIGUOUS = TRANS_A == 0, IS_B = TRANS_B != 0;
// The tile is an array of chunks, or of halves of 8 bytes: a matrix of 8 rows of one byte each may begin there.
#ifdef TYPE_A_IS_I8
#define TILE_CHUNK uvec2
const uint Q = P / 2;                                  // elements of it
#else
#define TILE_CHUNK uvec4
const uint Q = P;
#endif
const uint ROW = ((K_CONTIGUOUS ? BN : BM) / P + 1) * (P / Q);  // an odd number of chunks: see coopmat
const uint SIZE = (K_CONTIGUOUS ? PADDED_CHUNKS(BM, BN, P) : PADDED_CHUNKS(BN, BM, P)) * (P / Q);
shared TILE_CHUNK tile[PARTS * SIZE];

const uint SIDE = IS_B ? MN : MM;                      // rows of a matrix
const uint HELD = SIDE * MK / (SG * P);                // chunks of a matrix, in an invocation
const uint MATRICES = BM / SIDE * (BN / MK);           // of the tile
const uint LOADS = BM * BN / P / WG;

// Place of the i-th chunk that this invocation brings to the tile: (row, k) of its first element.
uvec2 place_of(uint i) {
    const uint e = i * WG + gl_LocalInvocationIndex, across = (K_CONTIGUOUS ? BN : BM) / P;
    return K_CONTIGUOUS ? uvec2(e / across, e % across * P) : uvec2(e % across * P, e / across);
}

#ifdef VKGEMM_MIXED
// Decodes P elements, rounds them to f16, and stores them, beginning at `from` in the tile.
void put(uvec2 origin, uvec2 from) {
    const uint at = (K_CONTIGUOUS ? from.x : from.y) * ROW + (K_CONTIGUOUS ? from.y : from.x) / P;
    const uvec2 place = origin + from;
    tile[at] = decode8_f16(true, load8_near(true, K_CONTIGUOUS, place.x, place.y),
                            place.x >= args.m || place.y >= k_end);
}
#else
// The second half of the chunk's elements, where an element takes more bytes than a part.
uvec4 upper_half(uint row, uint k) {
    return chunk_a(row + (K_CONTIGUOUS ? 0 : P / 2), k + (K_CONTIGUOUS ? P / 2 : 0));
}

#ifdef SCALED
#include "pack_fragments/pack_fragments_scaled.glsl"
#else
uvec4 scaled(uvec4 x, uint row) { return x; }
#endif

// Stores P elements in parts, beginning at `from` in the tile.
void put(uvec2 origin, uvec2 from) {
    const uint at = (K_CONTIGUOUS ? from.x : from.y) * ROW + (K_CONTIGUOUS ? from.y : from.x) / Q;
    const uvec2 place = origin + from;
    uvec4 lower = chunk_a(place.x, place.y);
#ifdef TYPE_A_IS_I8
    tile[at] = lower.xy;
    tile[at + 1] = lower.zw;
#else
    if (PARTS == 1) {
        tile[at] = lower;
        return;
    }
    uvec4 upper = upper_half(place.x, place.y);
    lower = scaled(lower, from.x);
    upper = scaled(upper, from.x + (K_CONTIGUOUS ? 0 : P / 2));
#if PARTS == 3
    if (!bf16_is_plain(lower) || !bf16_is_plain(upper)) {
        [[unroll]] for (uint part = 0; part < PARTS; ++part)
            tile[part * SIZE + at] = bf16_packed(bf16_part(lower, part), bf16_part(upper, part));
        return;
    }
#endif
    [[unroll]] for (uint part = 0; part < PARTS; ++part) {
        tile[part * SIZE + at] = FIRSTS(lower, upper);
        lower = REST(lower);
        upper = REST(upper);
    }
#endif
}

#endif

// Copies a matrix of the tile to its place in the workspace. It is loaded as the product loads matrices of that
// operand.
void write_matrix_a(uint row, uint k, uint part, uint at) {
    A_MATRIX m;
    if (K_CONTIGUOUS) coopMatLoad(m, tile, part * SIZE + row * ROW + k / Q, ROW, ROWS);
    else coopMatLoad(m, tile, part * SIZE + k * ROW + row / Q, ROW, COLUMNS);
    if (IN_ORDER(m, SIDE * MK))
        [[unroll]] for (uint c = 0; c < HELD; ++c) PACKED[at + c * SG + LANE] = BITS_OF(m, c * P);
    else coopMatStore(m, PACKED, at, MK / P, ROWS);
}
void write_matrix_b(uint row, uint k, uint part, uint at) {
    B_MATRIX m;
    if (K_CONTIGUOUS) coopMatLoad(m, tile, part * SIZE + row * ROW + k / Q, ROW, COLUMNS);
    else coopMatLoad(m, tile, part * SIZE + k * ROW + row / Q, ROW, ROWS);
    if (IN_ORDER(m, SIDE * MK))
        [[unroll]] for (uint c = 0; c < HELD; ++c) PACKED[at + c * SG + LANE] = BITS_OF(m, c * P);
    else coopMatStore(m, PACKED, at, MK / P, COLUMNS);
}

void pack_tile(uint row0, uint k0) {
    [[unroll]] for (uint i = 0; i < LOADS; ++i) put(uvec2(row0, k0), place_of(i));
    barrier();  // the tile is complete
    const uint slices = args.ldd / MK, across = ROW_BLOCK * MK / P;
    const uint begin = PACKED_BEGIN + batch * (args.batch_d / P) * PARTS;
    for (uint i = SUBGROUP; i < MATRICES; i += WG / SG) {
        const uint row = i % (BM / SIDE) * SIDE, k = i / (BM / SIDE) * MK;
        const uint row_block = (row0 + row) / ROW_BLOCK, slice = (k0 + k) / MK;
        if (slice >= slices) continue;
        [[unroll]] for (uint part = 0; part < PARTS; ++part) {
            const uint at = begin + ((row_block * slices + slice) * PARTS + part) * across +
                            (row0 + row) % ROW_BLOCK * MK / P;
            if (IS_B) write_matrix_b(row, k, part, at);
            else write_matrix_a(row, k, part, at);
        }
    }
}

void main() {
    uint row0, k0;
    if (args.k == 0 || !tile_of(row0, k0)) return;
#ifdef SCALED
    measure(row0);
    for (; k0 < args.ldd; k0 += BN) {
        pack_tile(row0, k0);
        barrier();  // every invocation has read the tile, so it may be overwritten
    }
#else
    pack_tile(row0, k0);
#endif
}
