// SPDX-License-Identifier: MIT
// Operands A and B in chunks of 16 bytes, whatever their alignment, as raw bits: what pack, gemv and the families of
// the matrix units load.
//
//     memory      |. . . . . c c c|c c c c c . . .|     lower and upper: two chunks that begin on 16 bytes
//     wanted                [c c c c c c c c]           the chunk from (row, k) on, shifted out of both; what is
//                                                       outside the operand is 0
//
// A chunk comes in two steps, so that arithmetic can run while memory answers: lower_a and upper_a load, from inside
// the operand whatever the place; chunk_a makes the chunk of what they gave. Where the operand is aligned (WIDE_A),
// lower_a gives everything. No 16 bytes are loaded that do not end inside the operand: elements in its last, incomplete
// 16 bytes are read one by one, which is rare. So operands shorter than 16 bytes are not for these families.
#ifndef VKGEMM_CHUNK16_GLSL
#define VKGEMM_CHUNK16_GLSL

#define PER_CHUNK(type) (16 / BYTES(type))  // elements
#define a_bytes BYTES(TYPE_A)
#define b_bytes BYTES(TYPE_B)

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
#define CHUNK(name, i) chunks(args.name).at[i]
#define CHUNK_FROM_16(name, i) chunks(uvec2(args.name.x & ~15u, args.name.y)).at[i]
#define BYTES_PAST_16(name) (args.name.x & 15u)
#else
layout(std430, set = 0, binding = BIND_A) readonly restrict buffer a_chunks_block { uvec4 at[]; } a_chunks;
layout(std430, set = 0, binding = BIND_B) readonly restrict buffer b_chunks_block { uvec4 at[]; } b_chunks;
#define CHUNK(name, i) name##_chunks.at[NOTED(name, args.name.x / (16 / name##_bytes) + (i), 16 / name##_bytes)]
#define CHUNK_FROM_16(name, i) name##_chunks.at[NOTED(name, i, 16 / name##_bytes)]
#define BYTES_PAST_16(name) (args.name.x * name##_bytes)
#endif

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

#ifdef VKGEMM_GROUPED
#define ROWS_OF_A rows_of_a()
#else
#define ROWS_OF_A args.m
#endif

// Elements from an operand's first to its last.
uint extent(uint rows, uint cols, uint stride, uint batch_stride) {
    return (args.batch - 1) * batch_stride + (rows - 1) * stride + cols;
}

// A, from (row, k) on: along k where it is row-major, down the rows where it is column-major.
uint begin_a(uint row, uint k) { return BYTES_PAST_16(a) + index_a(row, k) * BYTES(TYPE_A); }  // byte
uint whole_chunks_a() {
    return (BYTES_PAST_16(a) + (TRANS_A != 0 ? extent(args.k, args.m, args.lda, args.batch_a)
                                             : extent(ROWS_OF_A, args.k, args.lda, args.batch_a)) * BYTES(TYPE_A)) / 16;
}
uvec4 lower_a(uint row, uint k) {
    if ((ALIGNED & WIDE_A) != 0) return CHUNK(a, index_a(row, k) / PER_CHUNK(TYPE_A));
    return CHUNK_FROM_16(a, min(begin_a(row, k) / 16, max(whole_chunks_a(), 1) - 1));
}
uvec4 upper_a(uint row, uint k) {
    if ((ALIGNED & WIDE_A) != 0) return uvec4(0);
    return CHUNK_FROM_16(a, min(begin_a(row, k) / 16 + 1, max(whole_chunks_a(), 1) - 1));
}
uvec4 chunk_a(uint row, uint k, uvec4 lower, uvec4 upper) {
    const bool outside = row >= args.m || k >= k_end;
    if ((ALIGNED & WIDE_A) != 0) return outside ? uvec4(0) : lower;
    const uint left = outside ? 0 : min(PER_CHUNK(TYPE_A), (TRANS_A != 0 ? args.m : k_end) - (TRANS_A != 0 ? row : k));
    const uint begin = begin_a(row, k);
    uvec4 chunk = first_bytes(shifted(lower, upper, begin % 16), left * BYTES(TYPE_A));
    if (left != 0 && (begin + left * BYTES(TYPE_A) + 15) / 16 > whole_chunks_a()) {
        chunk = uvec4(0);
        for (uint i = 0; i < left; ++i) put(chunk, i, BYTES(TYPE_A), RAW(TYPE_A, ONE(a, index_a(row, k) + i)));
    }
    return chunk;
}
uvec4 chunk_a(uint row, uint k) { return chunk_a(row, k, lower_a(row, k), upper_a(row, k)); }

// B, from (k, column) on: along the columns where it is row-major, down k where it is column-major.
uint begin_b(uint k, uint col) { return BYTES_PAST_16(b) + index_b(k, col) * BYTES(TYPE_B); }  // byte
uint whole_chunks_b() {
    return (BYTES_PAST_16(b) + (TRANS_B != 0 ? extent(args.n, args.k, args.ldb, args.batch_b)
                                             : extent(args.k, args.n, args.ldb, args.batch_b)) * BYTES(TYPE_B)) / 16;
}
uvec4 lower_b(uint k, uint col) {
    if ((ALIGNED & WIDE_B) != 0) return CHUNK(b, index_b(k, col) / PER_CHUNK(TYPE_B));
    return CHUNK_FROM_16(b, min(begin_b(k, col) / 16, max(whole_chunks_b(), 1) - 1));
}
uvec4 upper_b(uint k, uint col) {
    if ((ALIGNED & WIDE_B) != 0) return uvec4(0);
    return CHUNK_FROM_16(b, min(begin_b(k, col) / 16 + 1, max(whole_chunks_b(), 1) - 1));
}
uvec4 chunk_b(uint k, uint col, uvec4 lower, uvec4 upper) {
    const bool outside = k >= k_end || col >= args.n;
    if ((ALIGNED & WIDE_B) != 0) return outside ? uvec4(0) : lower;
    const uint left = outside ? 0 : min(PER_CHUNK(TYPE_B), (TRANS_B != 0 ? k_end : args.n) - (TRANS_B != 0 ? k : col));
    const uint begin = begin_b(k, col);
    uvec4 chunk = first_bytes(shifted(lower, upper, begin % 16), left * BYTES(TYPE_B));
    if (left != 0 && (begin + left * BYTES(TYPE_B) + 15) / 16 > whole_chunks_b()) {
        chunk = uvec4(0);
        for (uint i = 0; i < left; ++i) put(chunk, i, BYTES(TYPE_B), RAW(TYPE_B, ONE(b, index_b(k, col) + i)));
    }
    return chunk;
}
uvec4 chunk_b(uint k, uint col) { return chunk_b(k, col, lower_b(k, col), upper_b(k, col)); }

#endif
