// SPDX-License-Identifier: MIT
// A and B of any type and format (formats.glsl), read as words of 32 bits whatever the type, so that the device needs
// no storage of 8 or 16 bits. No word is read that holds no byte of the operand. gemm.glsl includes this in modules of
// mixed types.
#ifndef VKGEMM_MIXED_GLSL
#define VKGEMM_MIXED_GLSL
#include "formats/formats.glsl"

// The i-th word from the multiple of 4 bytes at or below the operand's beginning, which comes past(of_a) bytes later.
// sixteen gives 16 bytes, from the i-th byte after that place on, a multiple of 16.
#ifdef VKGEMM_ADDRESSES
layout(buffer_reference, std430, buffer_reference_align = 16) readonly restrict buffer Sixteen { uvec4 at[]; };
uvec4 sixteen(bool of_a, uint i) {
    if (of_a) return Sixteen(args.a).at[i / 16];
    return Sixteen(args.b).at[i / 16];
}
uint word(bool of_a, uint i) {
    if (of_a) return a_one(uvec2(args.a.x & ~3u, args.a.y)).at[i];
    return b_one(uvec2(args.b.x & ~3u, args.b.y)).at[i];
}
uint past(bool of_a) { return (of_a ? args.a.x : args.b.x) & 3u; }
#else
layout(std430, set = 0, binding = BIND_A) readonly restrict buffer a_sixteen_block { uvec4 at[]; } a_sixteen;
layout(std430, set = 0, binding = BIND_B) readonly restrict buffer b_sixteen_block { uvec4 at[]; } b_sixteen;
uvec4 sixteen(bool of_a, uint i) { return of_a ? a_sixteen.at[i / 16] : b_sixteen.at[i / 16]; }
uint word(bool of_a, uint i) { return of_a ? a_one.at[i] : b_one.at[i]; }
uint past(bool of_a) { return of_a ? args.a.x : args.b.x; }
#endif

uint type_of(bool of_a) { return of_a ? FORMAT_A : FORMAT_B; }
bool in_chunks(bool of_a) { return (ALIGNED & (of_a ? CHUNKS_A : CHUNKS_B)) != 0; }

// The octet `place` of a block; of a plain type, whose blocks are elements, the eight from that element on.
Octet octet_of(bool of_a, uint block, uint place) {
    const uint type = type_of(of_a);
    const uint begin = past(of_a) + block * block_bytes(type), w = begin / 4;
    Octet x;
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
            x.code[4] = second.x, x.high[0] = second.y, x.high[1] = second.z, x.high[2] = second.w;
        }
        return x;
    }
    if (is_grouped(type)) {
        [[unroll]] for (uint q = 0; q < scale_words(type); ++q) x.scale[q] = word(of_a, w + q);
        words = code_bits(type) / 4;
        code = scale_words(type) + words * x.place;
    }
    switch (type) {
        case VKGEMM_TYPE_F32:
            words = 5;
            [[unroll]] for (uint q = 0; q < 3; ++q) x.high[q] = word(of_a, w + 5 + q);
            break;
        case VKGEMM_TYPE_F16:
        case VKGEMM_TYPE_BF16:
            words = 4;
            x.code[4] = word(of_a, w + (x.past == 0 ? 3 : 4));
            break;
        case VKGEMM_TYPE_I8:
        case VKGEMM_TYPE_U8:
        case VKGEMM_TYPE_E4M3:
        case VKGEMM_TYPE_E5M2:
            words = 2;
            x.code[2] = word(of_a, w + (x.past == 0 ? 1 : 2));
            break;
        case VKGEMM_TYPE_I4:
            words = 1, code = x.place;
            break;
        case VKGEMM_TYPE_Q8_0:
            x.scale[0] = word(of_a, w);
            code = 2 * x.place;
            break;
        case VKGEMM_TYPE_Q4_0:
        case VKGEMM_TYPE_IQ4_NL:
        case VKGEMM_TYPE_MXFP4:
            x.scale[0] = word(of_a, w);
            code = 2 * (x.place & 1);
            break;
        case VKGEMM_TYPE_Q5_0:
            x.scale[0] = word(of_a, w), x.scale[1] = word(of_a, w + 1);
            code = 1 + 2 * (x.place & 1);
            break;
        case VKGEMM_TYPE_Q4_1:
            x.scale[0] = word(of_a, w);
            code = 1 + 2 * (x.place & 1), words = 2;
            break;
        case VKGEMM_TYPE_Q5_1:
            x.scale[0] = word(of_a, w), x.scale[1] = word(of_a, w + 1);
            code = 2 + 2 * (x.place & 1), words = 2;
            break;
        case VKGEMM_TYPE_NVFP4:
            x.scale[0] = word(of_a, w);
            code = 1 + 2 * (x.place >> 1), words = 2;
            break;
        case VKGEMM_TYPE_Q4_K:
        case VKGEMM_TYPE_Q5_K:
            x.high[2] = word(of_a, w);
            [[unroll]] for (uint q = 0; q < 3; ++q) x.scale[q] = word(of_a, w + 1 + q);
            code = 4 + 8 * (x.place >> 3) + 2 * (x.place & 3), words = 2;
            if (type == VKGEMM_TYPE_Q5_K) {
                code += 8;
                [[unroll]] for (uint q = 0; q < 2; ++q) x.high[q] = word(of_a, w + 4 + 2 * (x.place & 3) + q);
            }
            break;
        case VKGEMM_TYPE_Q6_K: {
            const uint byte = 192 + x.past + (x.place >> 1 & 1) + (x.place >> 2 << 1);
            x.scale[0] = word(of_a, w + 52), x.scale[1] = word(of_a, w + byte / 4);
            const uint two = 32 + 8 * (x.place >> 4) + 2 * (x.place & 3);
            [[unroll]] for (uint q = 0; q < 3; ++q) x.high[q] = word(of_a, w + two + q);
            code = 16 * (x.place >> 4) + 8 * (x.place >> 2 & 1) + 2 * (x.place & 3);
            break;
        }
    }
    [[unroll]] for (uint q = 0; q < 5; ++q)
        if (q < words) x.code[q] = word(of_a, w + code + q);
    return x;
}

// Four neighbours of an octet, with their scale.
vec4 finished_quad(bool of_a, Octet x, uint part) {
    const vec2 factors = factors_of(type_of(of_a), x);
    return quad_of(type_of(of_a), x, part) * factors.x * factors.y;
}

// The octet from element i on, a multiple of 8 in a block.
Octet octet_from(bool of_a, uint i) {
    const uint elements = block_elements(type_of(of_a));
    return octet_of(of_a, i / elements, i % elements / 8);
}

// The octet of eight elements of a row or column of a tile, from (line, k) on: along k, or along the lines. line: a row
// of A, a column of B. Rows in memory are a multiple of 8 elements; outside, the last octet is read.
Octet octet_near(bool of_a, bool along_k, uint line, uint k) {
    const uint lines = of_a ? args.m : args.n, ld = of_a ? args.lda : args.ldb;
    const uint q = min(k, k_end - (along_k ? 8 : 1));
    uint r = min(line, lines - (along_k ? 1 : 8));
    if (of_a) r = ROW_OF_A(r);
    return octet_from(of_a, batch * (of_a ? args.batch_a : args.batch_b) + (along_k ? r * ld + q : q * ld + r));
}

// An octet as f16, two to a word; 0 where it is outside.
uvec4 octet_as_f16(bool of_a, Octet x, bool outside) {
    const vec4 low = finished_quad(of_a, x, 0), high = finished_quad(of_a, x, 1);
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
    return finished_quad(of_a, octet_from(of_a, i & ~7u), i >> 2 & 1)[i & 3];
}
vec4 quad_from(bool of_a, uint i) {
    if (block_elements(type_of(of_a)) != 1) return finished_quad(of_a, octet_from(of_a, i & ~7u), i >> 2 & 1);
    return vec4(plain_element(of_a, i), plain_element(of_a, i + 1), plain_element(of_a, i + 2),
                plain_element(of_a, i + 3));
}

#endif
