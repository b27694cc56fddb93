// SPDX-License-Identifier: MIT
// The first pass for an operand of another type than the product multiplies: a block format, f32, f16, bf16, i8 or u8
// becomes f16 or bf16 (TYPE_D) in the workspace, with rows that begin on 16 bytes and are filled up with zeros, as
// `pack` leaves them. It grows from `pack`.
//
//     A, m rows of k elements             tile BM x BN                D, the workspace
//     +------+------+---+                                             +--------+-----
//     |      |      |   |      an invocation takes eight elements     | 16 B   | ...   rows of whole chunks
//     +------+------+---+  ->  at a time, which mixed.glsl decodes ->  +--------+-----
//     |      |      |   |      and which are rounded once             | 16 B   | ...
//     +------+------+---+                                             +--------+-----
//      a work group each
//
// Rows run along memory: a column-major operand has its columns here. If a row is a multiple of eight elements
// (WIDE_A), as rows of blocks are, eight are loaded at once, otherwise one by one.
#extension GL_GOOGLE_include_directive : require
#include "common/gemm.glsl"

#ifdef VKGEMM_ADDRESSES
layout(buffer_reference, std430, buffer_reference_align = 16) writeonly restrict buffer packed_row { uvec4 at[]; };
#define PACKED(i) packed_row(args.d).at[i]
#else
layout(std430, set = 0, binding = BIND_D) writeonly restrict buffer packed_row_block { uvec4 at[]; } packed_row;
#define PACKED(i) packed_row.at[args.d.x / 8 + (i)]
#endif

#define f16_pair(x, y) packHalf2x16(vec2(x, y))
#define bf16_pair(x, y) (bf16_bits(x) | bf16_bits(y) << 16)
#define PAIR(x, y) VKGEMM_PASTE(TYPE_D, _pair)(x, y)

const uint LOADS = BM * BN / 8 / WG, ACROSS = BN / 8;

// (row, k) of the first of the eight elements that this invocation takes for the i-th time.
uvec2 place_of(uint i) {
    const uint e = i * WG + gl_LocalInvocationIndex;
    return uvec2(e / ACROSS, e % ACROSS * 8);
}

void write_eight(uvec2 at, vec4 low, vec4 high) {
    if (at.x < args.m && at.y < args.k)
        PACKED((batch * args.batch_d + at.x * args.ldd + at.y) / 8) =
            uvec4(PAIR(low.x, low.y), PAIR(low.z, low.w), PAIR(high.x, high.y), PAIR(high.z, high.w));
}

void main() {
    uint row0, k0;
    if (args.k == 0 || !tile_of(row0, k0)) return;
    const uvec2 origin = uvec2(row0, k0);
    if ((ALIGNED & WIDE_A) != 0) {
        Packed8 packed[LOADS];  // all on their way before the first is decoded
        [[unroll]] for (uint i = 0; i < LOADS; ++i) {
            const uvec2 at = origin + place_of(i);
            packed[i] = load8_near(true, true, at.x, at.y);
        }
        [[unroll]] for (uint i = 0; i < LOADS; ++i)
            write_eight(origin + place_of(i), decode4_scaled(true, packed[i], 0), decode4_scaled(true, packed[i], 1));
        return;
    }
    for (uint i = 0; i < LOADS; ++i) {
        const uvec2 at = origin + place_of(i);
        vec4 half_row[2];
        [[unroll]] for (uint e = 0; e < 8; ++e) half_row[e / 4][e % 4] = load_plain_a(at.x, at.y + e);
        write_eight(at, half_row[0], half_row[1]);
    }
}
