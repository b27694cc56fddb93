// SPDX-License-Identifier: MIT
// A and B of any type and format (formats.glsl). They are read as words of 32 bits, so that the device needs no storage
// of 8 or 16 bits. Only words with a byte of the operand are read. gemm.glsl includes this in modules of mixed types.
#ifndef VKGEMM_MIXED_GLSL
#define VKGEMM_MIXED_GLSL
#include "formats/formats.glsl"

// The i-th word from the multiple of 4 bytes at or below the operand's beginning, which comes past(of_a) bytes later.
// sixteen gives 16 bytes, from the i-th byte after that place on, a multiple of 16.
#ifdef VKGEMM_ADDRESSES
layout(buffer_reference, std430, buffer_reference_align = 16) readonly restrict buffer Sixteen { uvec4 at[]; };
uvec4 sixteen(bool of_a, uint i) {
    if (of_a) return Sixteen(args.a).at[i / 16];
    return Sixteen(B_BEGIN).at[i / 16];
}
uint word(bool of_a, uint i) {
    if (of_a) return a_one(uvec2(args.a.x & ~3u, args.a.y)).at[i];
    return b_one(uvec2(B_BEGIN.x & ~3u, B_BEGIN.y)).at[i];
}
uint past(bool of_a) { return (of_a ? args.a.x : B_BEGIN.x) & 3u; }
#else
layout(std430, set = 0, binding = BIND_A) readonly restrict buffer a_sixteen_block { uvec4 at[]; } a_sixteen;
layout(std430, set = 0, binding = BIND_B) readonly restrict buffer b_sixteen_block { uvec4 at[]; } b_sixteen;
#ifdef VKGEMM_PAIRS
layout(std430, set = 0, binding = BIND_C) readonly restrict buffer b2_sixteen_block { uvec4 at[]; } b2_sixteen;
#endif
#define SIXTEEN_FROM(name, begin, i) name##_sixteen.at[(i) / 16]
#define WORD_FROM(name, begin, i) name##_one.at[i]
uvec4 sixteen(bool of_a, uint i) { return of_a ? a_sixteen.at[i / 16] : OF_B(SIXTEEN_FROM, i); }
uint word(bool of_a, uint i) { return of_a ? a_one.at[i] : OF_B(WORD_FROM, i); }
uint past(bool of_a) { return of_a ? args.a.x : B_BEGIN.x; }
#endif

uint type_of(bool of_a) { return of_a ? FORMAT_A : FORMAT_B; }
bool in_chunks(bool of_a) { return (ALIGNED & (of_a ? CHUNKS_A : CHUNKS_B)) != 0; }

// Loads elements 8 place to 8 place + 7 of a block. A plain type has blocks of one element: eight are loaded from that
// one on.
Packed8 load8_of_block(bool of_a, uint block, uint place) {
    const uint type = type_of(of_a);
    const uint begin = past(of_a) + block * block_bytes(type), w = begin / 4;
    Packed8 x;
    x.place = place;
    x.past = begin % 4;
    [[unroll]] for (uint q = 0; q < 5; ++q) x.code[q] = 0;
    [[unroll]] for (uint q = 0; q < 3; ++q) x.high[q] = x.scale[q] = 0;
    uint code = 0, words = 3;  // the first word with codes, from the block's own on, and how many there are
    if (in_chunks(of_a) && (type == VKGEMM_TYPE_F32 || type == VKGEMM_TYPE_F16 || type == VKGEMM_TYPE_BF16)) {
        x.past = 0;
        const uvec4 first = sixteen(of_a, begin);
        [[unroll]] for (uint q = 0; q < 4; ++q) x.code[q] = first[q];
        if (type == VKGEMM_TYPE_F32) {
            const uvec4 second = sixteen(of_a, begin + 16);
            x.code[4] = second.x;
            x.high[0] = second.y;
            x.high[1] = second.z;
            x.high[2] = second.w;
        }
        return x;
    }
    switch (type) {
#define FORMAT_LOAD8
#include "formats/all.glsl"
#undef FORMAT_LOAD8
    }
    [[unroll]] for (uint q = 0; q < 5; ++q)
        if (q < words) x.code[q] = word(of_a, w + code + q);
    return x;
}

// Four of eight neighbours, with their scale.
vec4 decode4_scaled(bool of_a, Packed8 x, uint part) {
    const vec2 factors = scales_of(type_of(of_a), x);
    return decode4(type_of(of_a), x, part) * factors.x * factors.y;
}

// Loads eight from element i on, a multiple of 8 in a block.
Packed8 load8(bool of_a, uint i) {
    const uint elements = block_elements(type_of(of_a));
    return load8_of_block(of_a, i / elements, i % elements / 8);
}

// Loads eight elements of a tile from (line, k) on, along k or across the lines. A line is a row of A or a column of B.
// Rows in memory are a multiple of 8 elements long. Past the edge, the last eight elements are read.
Packed8 load8_near(bool of_a, bool along_k, uint line, uint k) {
    const uint lines = of_a ? args.m : args.n, ld = of_a ? args.lda : args.ldb;
    const uint q = min(k, k_end - (along_k ? 8 : 1));
    uint r = min(line, lines - (along_k ? 1 : 8));
    if (of_a) r = ROW_OF_A(r);
    return load8(of_a, batch * (of_a ? args.batch_a : args.batch_b) + (along_k ? r * ld + q : q * ld + r));
}

// Eight neighbours as f16, two to a word; 0 where they are outside.
uvec4 decode8_f16(bool of_a, Packed8 x, bool outside) {
    const vec4 low = decode4_scaled(of_a, x, 0), high = decode4_scaled(of_a, x, 1);
    const uvec4 bits = uvec4(packHalf2x16(low.xy), packHalf2x16(low.zw), packHalf2x16(high.xy), packHalf2x16(high.zw));
    return mix(bits, uvec4(0), bvec4(outside));
}

// Element i of an operand of a plain type.
float plain_element(bool of_a, uint i) {
    const uint type = type_of(of_a);
    const uint begin = past(of_a) + i * block_bytes(type), bits = word(of_a, begin / 4) >> (8 * (begin & 3));
    switch (type) {
        case VKGEMM_TYPE_F16: return unpackHalf2x16(bits).x;
        case VKGEMM_TYPE_BF16: return uintBitsToFloat(bits << 16);
        case VKGEMM_TYPE_I8: return float(bitfieldExtract(int(bits), 0, 8));
        case VKGEMM_TYPE_U8: return float(bits & 255u);
        case VKGEMM_TYPE_E4M3: return e4m3_bytes(bits & 255u).x;
        case VKGEMM_TYPE_E5M2: return e5m2_bytes(bits & 255u).x;
    }
    return uintBitsToFloat(bits);
}

// Element i, and four neighbours from i on, which is a multiple of 4 in a block.
float element_of(bool of_a, uint i) {
    if (block_elements(type_of(of_a)) == 1) return plain_element(of_a, i);
    return decode4_scaled(of_a, load8(of_a, i & ~7u), i >> 2 & 1)[i & 3];
}
vec4 load4(bool of_a, uint i) {
    if (block_elements(type_of(of_a)) != 1) return decode4_scaled(of_a, load8(of_a, i & ~7u), i >> 2 & 1);
    return vec4(plain_element(of_a, i), plain_element(of_a, i + 1), plain_element(of_a, i + 2),
                plain_element(of_a, i + 3));
}

#endif
