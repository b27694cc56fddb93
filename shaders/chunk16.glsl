// SPDX-License-Identifier: MIT
// Operands A and B sixteen bytes at a time, whatever their alignment, as raw bits: what the matrix families load.
#ifndef VKGEMM_PIECES_GLSL
#define VKGEMM_PIECES_GLSL

#define PIECE(type) (16 / BYTES(type))  // elements in 16 bytes
#define a_bytes BYTES(TYPE_A)
#define b_bytes BYTES(TYPE_B)

// The bits of one element, and the value in the low bits of a word.
#define f32_raw(x) floatBitsToUint(x)
#define f32_unpack(word) uintBitsToFloat(word)
#define i32_raw(x) uint(x)
#define i32_unpack(word) int(word)
#define f16_raw(x) packHalf2x16(vec2(float(x), 0))
#define f16_unpack(word) unpackHalf2x16(word).x
#define bf16_raw(x) uint(x)
#define bf16_unpack(word) uintBitsToFloat((word) << 16)
#define i8_raw(x) (uint(x) & 255u)
#define i8_unpack(word) bitfieldExtract(int(word), 0, 8)
#define u8_raw(x) uint(x)
#define u8_unpack(word) int((word) & 255u)
#define RAW(type, x) VKGEMM_PASTE(type, _raw)(x)
#define UNPACK(type, word) acc_t(VKGEMM_PASTE(type, _unpack)(word))

// WIDE(a, i): the i-th 16 bytes of operand a, which begins on 16. LINE(a, i): the same, counted from the multiple of 16
// below its beginning, which lies BELOW(a, type) bytes further on.
#ifdef VKGEMM_ADDRESSES
layout(buffer_reference, std430, buffer_reference_align = 16) readonly restrict buffer line { uvec4 at[]; };
#define WIDE(name, i) line(args.name).at[i]
#define LINE(name, i) line(uvec2(args.name.x & ~15u, args.name.y)).at[i]
#define BELOW(name, type) (args.name.x & 15u)
#else
layout(std430, set = 0, binding = BIND_A) readonly restrict buffer a_line_block { uvec4 at[]; } a_line;
layout(std430, set = 0, binding = BIND_B) readonly restrict buffer b_line_block { uvec4 at[]; } b_line;
#define WIDE(name, i) name##_line.at[NOTED(name, args.name.x / (16 / name##_bytes) + (i), 16 / name##_bytes)]
#define LINE(name, i) name##_line.at[NOTED(name, i, 16 / name##_bytes)]
#define BELOW(name, type) (args.name.x * BYTES(type))
#endif

// 16 bytes out of 32, from byte `by` on.
uvec4 slid(uvec4 lower, uvec4 upper, uint by) {
    if ((by & 8) != 0) { lower = uvec4(lower.zw, upper.xy); upper.xy = upper.zw; }
    if ((by & 4) != 0) { lower = uvec4(lower.yzw, upper.x); upper.x = upper.y; }
    const uint bits = 8 * (by & 3);
    return bits == 0 ? lower : lower >> bits | uvec4(lower.yzw, upper.x) << (32 - bits);
}

// The first `bytes` bytes of a piece; zeros after them.
uvec4 kept(uvec4 piece, uint bytes) {
    const ivec4 bits = clamp(int(8 * bytes) - ivec4(0, 32, 64, 96), 0, 32);
    return piece & mix((uvec4(1) << bits) - 1, uvec4(~0u), equal(bits, ivec4(32)));
}

// A piece of A or B, from (row, k) or (k, column) on, along the direction in which the operand lies in memory; elements
// outside are 0. It comes in two steps, so that arithmetic can run while memory answers: lower_ and upper_ load, from
// inside the operand whatever the place; piece_ makes the piece of what they gave. Where the operand is aligned,
// lower_ gives everything; else the piece is slid out of two aligned ones. No 16 bytes are loaded that do not end
// inside the operand: what lies in its last, incomplete ones is read element by element, which is rare. (So operands
// shorter than 16 bytes are not for these families.)
#define PIECES(name, type, wide, x, y, index, x_end, y_end, along, length, count)                                     \
    uint begin_##name(uint x, uint y) { return BELOW(name, type) + index(x, y) * BYTES(type); }                       \
    uint lines_##name() { return (BELOW(name, type) + (count) * BYTES(type)) / 16; }                                  \
    uvec4 lower_##name(uint x, uint y) {                                                                              \
        if ((ALIGNED & wide) != 0) return WIDE(name, index(x, y) / PIECE(type));                                      \
        return LINE(name, min(begin_##name(x, y) / 16, max(lines_##name(), 1) - 1));                                  \
    }                                                                                                                 \
    uvec4 upper_##name(uint x, uint y) {                                                                              \
        if ((ALIGNED & wide) != 0) return uvec4(0);                                                                   \
        return LINE(name, min(begin_##name(x, y) / 16 + 1, max(lines_##name(), 1) - 1));                              \
    }                                                                                                                 \
    uvec4 piece_##name(uint x, uint y, uvec4 lower, uvec4 upper) {                                                    \
        const bool outside = (x) >= (x_end) || (y) >= (y_end);                                                        \
        if ((ALIGNED & wide) != 0) return outside ? uvec4(0) : lower;                                                 \
        const uint left = outside ? 0 : min(PIECE(type), (length) - (along)), begin = begin_##name(x, y);             \
        uvec4 piece = kept(slid(lower, upper, begin % 16), left * BYTES(type));                                       \
        if (left != 0 && (begin + left * BYTES(type) + 15) / 16 > lines_##name()) {                                   \
            piece = uvec4(0);                                                                                         \
            for (uint i = 0; i < left; ++i)                                                                           \
                piece[i * BYTES(type) / 4] |= RAW(type, ONE(name, index(x, y) + i)) << (8 * (i * BYTES(type) % 4));   \
        }                                                                                                             \
        return piece;                                                                                                 \
    }                                                                                                                 \
    uvec4 piece_##name(uint x, uint y) { return piece_##name(x, y, lower_##name(x, y), upper_##name(x, y)); }

// Elements from an operand's first to its last.
uint extent(uint rows, uint cols, uint stride, uint batch_stride) {
    return (args.batch - 1) * batch_stride + (rows - 1) * stride + cols;
}
PIECES(a, TYPE_A, WIDE_A, row, k, index_a, args.m, k_end, (TRANS_A != 0 ? row : k), (TRANS_A != 0 ? args.m : k_end),
       (TRANS_A != 0 ? extent(args.k, args.m, args.lda, args.batch_a) : extent(args.m, args.k, args.lda, args.batch_a)))
PIECES(b, TYPE_B, WIDE_B, k, col, index_b, k_end, args.n, (TRANS_B != 0 ? k : col), (TRANS_B != 0 ? k_end : args.n),
       (TRANS_B != 0 ? extent(args.n, args.k, args.ldb, args.batch_b) : extent(args.k, args.n, args.ldb, args.batch_b)))

#endif
