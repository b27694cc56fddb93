// SPDX-License-Identifier: MIT
// Loads A and B in chunks of 16 bytes, as raw bits, from any alignment. pack, gemv and the families of the matrix units
// use it.
//
//     memory      |. . . . . c c c|c c c c c . . .|     lower and upper: two chunks that begin on 16 bytes
//     wanted                [c c c c c c c c]           the chunk from (row, col) on, shifted out of both; elements
//                                                       outside the operand are 0
//
// A chunk comes in two steps, so that arithmetic can run while memory answers. First lower_a and upper_a load, always
// from inside the operand. Then chunk_a makes the chunk of what they returned. If the operand is aligned (WIDE_A),
// lower_a returns the whole chunk. A load of 16 bytes always ends inside the operand: elements in its last, incomplete
// 16 bytes are read one by one, which is rare. These families therefore refuse operands shorter than 16 bytes.
#ifndef VKGEMM_CHUNK16_GLSL
#define VKGEMM_CHUNK16_GLSL

#define PER_CHUNK(type) (16 / BYTES(type))  // elements
#define a_bytes BYTES(TYPE_A)
#define b_bytes BYTES(TYPE_B)
#define b2_bytes b_bytes

// The bits of one element; the value in the low bits of a word, or in it and the next; the value in its high 16 bits.
#define f32_raw(x) floatBitsToUint(x)
#define f32_unpack(word, next) uintBitsToFloat(word)
#define f32_unpack_high(word) 0  // has no halves
#define i32_raw(x) uint(x)
#define i32_unpack(word, next) int(word)
#define f16_raw(x) packHalf2x16(vec2(float(x), 0))
#define f16_unpack(word, next) unpackHalf2x16(word).x
#define f16_unpack_high(word) unpackHalf2x16(word).y
#define bf16_raw(x) uint(x)
#define bf16_unpack(word, next) uintBitsToFloat((word) << 16)
#define bf16_unpack_high(word) uintBitsToFloat((word) & 0xffff0000u)
#define i8_raw(x) (uint(x) & 255u)
#define i8_unpack(word, next) bitfieldExtract(int(word), 0, 8)
#define u8_raw(x) uint(x)
#define u8_unpack(word, next) int((word) & 255u)
#define f64_raw(x) unpackDouble2x32(x)
#define f64_unpack(word, next) packDouble2x32(uvec2(word, next))
#define f64_unpack_high(word) 0
#define RAW(type, x) VKGEMM_PASTE(type, _raw)(x)
#define UNPACK(type, word, next) acc_t(VKGEMM_PASTE(type, _unpack)(word, next))
#define UNPACK_HIGH(type, word) acc_t(VKGEMM_PASTE(type, _unpack_high)(word))

// CHUNK(a, i) is the i-th chunk of an operand that begins on 16 bytes. CHUNK_FROM_16(a, i) counts from the multiple of
// 16 at or below the operand's beginning, which comes BYTES_PAST_16(a) bytes later.
#ifdef VKGEMM_ADDRESSES
layout(buffer_reference, std430, buffer_reference_align = 16) readonly restrict buffer chunks { uvec4 at[]; };
#define CHUNK_FROM(name, begin, i) chunks(begin).at[i]
#define CHUNK_FROM_16(name, i) chunks(uvec2(args.name.x & ~15u, args.name.y)).at[i]
#define BYTES_PAST_16(name) (args.name.x & 15u)
#else
layout(std430, set = 0, binding = BIND_A) readonly restrict buffer a_chunks_block { uvec4 at[]; } a_chunks;
layout(std430, set = 0, binding = BIND_B) readonly restrict buffer b_chunks_block { uvec4 at[]; } b_chunks;
#ifdef VKGEMM_PAIRS
layout(std430, set = 0, binding = BIND_C) readonly restrict buffer b2_chunks_block { uvec4 at[]; } b2_chunks;
#endif
#define CHUNK_FROM(name, begin, i) name##_chunks.at[NOTED(name, begin.x / (16 / name##_bytes) + (i), 16 / name##_bytes)]
#define CHUNK_FROM_16(name, i) name##_chunks.at[NOTED(name, i, 16 / name##_bytes)]
#define BYTES_PAST_16(name) (args.name.x * name##_bytes)
#endif
#define CHUNK(name, i) CHUNK_FROM(name, args.name, i)

// 16 bytes out of 32, from byte `by` (0 to 15) on.
uvec4 shifted(uvec4 lower, uvec4 upper, uint by) {
    if ((by & 8) != 0) { lower = uvec4(lower.zw, upper.xy); upper.xy = upper.zw; }
    if ((by & 4) != 0) { lower = uvec4(lower.yzw, upper.x); upper.x = upper.y; }
    const uint bits = 8 * (by & 3);
    return bits == 0 ? lower : lower >> bits | uvec4(lower.yzw, upper.x) << (32 - bits);
}

// Puts the bits of element i, of `bytes` bytes, into a chunk that holds 0 there.
void put(inout uvec4 chunk, uint i, uint bytes, uint raw) { chunk[i * bytes / 4] |= raw << (8 * (i * bytes % 4)); }
void put(inout uvec4 chunk, uint i, uint bytes, uvec2 raw) {
    chunk[2 * i] = raw.x;
    chunk[2 * i + 1] = raw.y;
}

// The first `bytes` bytes of a chunk; zeros after them.
uvec4 first_bytes(uvec4 chunk, uint bytes) {
    const ivec4 bits = clamp(int(8 * bytes) - ivec4(0, 32, 64, 96), 0, 32);
    return chunk & mix((uvec4(1) << bits) - 1, uvec4(~0u), equal(bits, ivec4(32)));
}

// Elements from an operand's first to its last.
uint extent(uint rows, uint cols, uint stride, uint batch_stride) {
    return (args.batch - 1) * batch_stride + (rows - 1) * stride + cols;
}

#ifdef VKGEMM_GROUPED
#define ROWS_OF_A rows_of_a()
#else
#define ROWS_OF_A args.m
#endif
#define EXTENT_A                                                       \
    (TRANS_A != 0 ? extent(args.k, args.m, args.lda, args.batch_a)     \
                  : extent(ROWS_OF_A, args.k, args.lda, args.batch_a))
#define EXTENT_B                                                   \
    (TRANS_B != 0 ? extent(args.n, args.k, args.ldb, args.batch_b) \
                  : extent(args.k, args.n, args.ldb, args.batch_b))

// The functions of an operand. A is M x K and B is K x N, of which this work group reads rows x cols. A chunk from
// (row, col) on is along a row where the operand is row-major, and down a column where it is column-major.
//   begin_x         the byte where that chunk begins, counted from where CHUNK_FROM_16 counts
//   whole_chunks_x  how many chunks end inside the operand, counted from there too
#define CHUNKS_OF(X, x, rows, cols)                                                                                \
    uint begin_##x(uint row, uint col) { return BYTES_PAST_16(x) + index_##x(row, col) * BYTES(TYPE_##X); }        \
    uint whole_chunks_##x() { return (BYTES_PAST_16(x) + EXTENT_##X * BYTES(TYPE_##X)) / 16; }                     \
    uvec4 lower_##x(uint row, uint col) {                                                                          \
        if ((ALIGNED & WIDE_##X) != 0) return CHUNK(x, index_##x(row, col) / PER_CHUNK(TYPE_##X));                 \
        return CHUNK_FROM_16(x, min(begin_##x(row, col) / 16, max(whole_chunks_##x(), 1) - 1));                    \
    }                                                                                                              \
    uvec4 upper_##x(uint row, uint col) {                                                                          \
        if ((ALIGNED & WIDE_##X) != 0) return uvec4(0);                                                            \
        return CHUNK_FROM_16(x, min(begin_##x(row, col) / 16 + 1, max(whole_chunks_##x(), 1) - 1));                \
    }                                                                                                              \
    uvec4 chunk_##x(uint row, uint col, uvec4 lower, uvec4 upper) {                                                \
        const bool outside = row >= rows || col >= cols;                                                           \
        if ((ALIGNED & WIDE_##X) != 0) return outside ? uvec4(0) : lower;                                          \
        const uint left =                                                                                          \
            outside ? 0 : min(PER_CHUNK(TYPE_##X), (TRANS_##X != 0 ? rows : cols) - (TRANS_##X != 0 ? row : col)); \
        const uint begin = begin_##x(row, col);                                                                    \
        uvec4 chunk = first_bytes(shifted(lower, upper, begin % 16), left * BYTES(TYPE_##X));                      \
        if (left != 0 && (begin + left * BYTES(TYPE_##X) + 15) / 16 > whole_chunks_##x()) {                        \
            chunk = uvec4(0);                                                                                      \
            for (uint i = 0; i < left; ++i)                                                                        \
                put(chunk, i, BYTES(TYPE_##X), RAW(TYPE_##X, ONE(x, index_##x(row, col) + i)));                    \
        }                                                                                                          \
        return chunk;                                                                                              \
    }                                                                                                              \
    uvec4 chunk_##x(uint row, uint col) { return chunk_##x(row, col, lower_##x(row, col), upper_##x(row, col)); }
CHUNKS_OF(A, a, args.m, k_end)
CHUNKS_OF(B, b, k_end, args.n)

#endif
