// SPDX-License-Identifier: MIT
// Few rows of a float by a B of a block format, in whole numbers: for accuracy=mxint8. It is `gemv_blocks` with another
// A. Each 32 elements of a row are rounded to 8 bits and share a power of two (MXINT8 of the OCP's microscaling
// formats), while they are copied to shared memory; four products of codes are one packed dot product, which is exact.
//
//     A's row        | 32 elements      | 32 elements      | ...       2^e <= largest of them < 2^(e + 1)
//     shared memory  | 8 words of codes | scale | sum of codes |       code = x / 2^(e - 6), to even, -128 to 127
//
//     D = sum over blocks of  scale of A * (scale of B * (dot - bias * sum) - offset of B * sum)
//
// With STAGES 2 and DEPTH 4 neighbours copy neighbouring vectors of A to shared memory first, and round it from there:
// a block of f32 is a line of the cache, and an invocation that loads one alone takes eight loads of a line for each.
// A block of A with an infinity or NaN has a scale of NaN. One whose largest element is below 2^-120 counts as 0, so
// that no scale is subnormal.
#extension GL_GOOGLE_include_directive : require
#define VKGEMM_PACKED_DOTS
#define VKGEMM_SELECTS
#define VKGEMM_PAIRS
#include "common/gemm.glsl"
#include "common/shared_memory.h"
#include "gemv_blocks/shared_memory.h"
#include "gemv_blocks/gemv_chunk64.glsl"
#include "formats/chunk64_dot4.glsl"

// A in shared memory is vectors of four words. A chunk is two blocks: two vectors of codes for each block, and one
// vector with both scales and both sums. The chunks of an invocation take an odd number of vectors, so that those of
// neighbours begin in different banks.
const uint LANE_A = GEMV_MXINT8_LANE(DEPTH), ROW_A = TEAM * LANE_A, ALL_A = BM * ROW_A;
const uint COPIES = (BM * STEP / 32 + WG - 1) / WG;  // blocks of A that an invocation copies

shared uvec4 a_step[ALL_A > PARTS ? ALL_A : PARTS];  // at the end the sums of all invocations
const bool SHORT = ALIGNED / CHUNKS_A % 2 != 0 && FORMAT_A != VKGEMM_TYPE_F32;  // copied as it is, two to a word
const uint PER_BLOCK = SHORT ? 4 : 8;
uvec4 copied[PER_BLOCK * COPIES];

// A unrounded, if it goes through shared memory twice: the vectors of a step, and an unused one behind each block.
const uint STEP_VECTORS = STEP / 32 * PER_BLOCK, VECTORS = BM * STEP_VECTORS;
const uint VECTOR_COPIES = (VECTORS + WG - 1) / WG;  // that an invocation copies
shared uvec4 a_vectors[TWICE_A ? PADDED_EIGHTS(BM * STEP / 32) : 1];

// Where the p-th chunk of an invocation begins.
uint place_of(uint place, uint p) { return place / DEPTH * LANE_A + p * 5; }

float element_of_a(uint i) {
    const uint begin = past(true) + i * (FORMAT_A == VKGEMM_TYPE_F32 ? 4 : 2), bits = word(true, begin / 4);
    return FORMAT_A == VKGEMM_TYPE_F32 ? uintBitsToFloat(bits) : half_of(bits, FORMAT_A, begin / 2);
}
// Elements i to i + 3, or to i + 7 if they are short, as they are copied.
uvec4 vector_of_a(uint i) {
    if ((ALIGNED & CHUNKS_A) != 0) return sixteen(true, past(true) + i * (SHORT ? 2 : 4));
    return floatBitsToUint(vec4(element_of_a(i), element_of_a(i + 1), element_of_a(i + 2), element_of_a(i + 3)));
}
vec4 four_of_block(uint i, uint t) {
    const uint v = SHORT ? t / 2 : t, block = i * WG + gl_LocalInvocationIndex;
    const uvec4 units = TWICE_A ? a_vectors[block * (PER_BLOCK + 1) + v] : copied[PER_BLOCK * i + v];
    if (!SHORT) return uintBitsToFloat(units);
    const uint first = units[2 * (t % 2)], second = units[2 * (t % 2) + 1];
    return vec4(half_of(first, FORMAT_A, 0), half_of(first, FORMAT_A, 1), half_of(second, FORMAT_A, 0),
                half_of(second, FORMAT_A, 1));
}

void load_a_step(uint row0, uint k0) {
    const uint length = 32 / PER_BLOCK;  // elements of a vector
    if (TWICE_A) {
        [[unroll]] for (uint i = 0; i < VECTOR_COPIES; ++i) {
            const uint e = min(i * WG + gl_LocalInvocationIndex, VECTORS - 1), v = e / STEP_VECTORS;
            copied[i] = vector_of_a(index_a(row0 + v, min(k0 + e % STEP_VECTORS * length, k_end - length)));
        }
        return;
    }
    [[unroll]] for (uint i = 0; i < COPIES; ++i) {
        const uint e = i * WG + gl_LocalInvocationIndex, v = min(e / (STEP / 32), BM - 1);
        const uint at = index_a(row0 + v, min(k0 + e % (STEP / 32) * 32, k_end - 32));
        [[unroll]] for (uint t = 0; t < PER_BLOCK; ++t)
            copied[PER_BLOCK * i + t] = vector_of_a(at + t * length);
    }
}

// Block number `block` of a row of the step that begins at vector `row`.
void store_block(uint row, uint block, vec4 x[8]) {
    uint largest = 0;  // the bits of |x| are in the order of the numbers, with NaN above all
    [[unroll]] for (uint t = 0; t < 8; ++t) {
        const uvec4 size = floatBitsToUint(x[t]) & 0x7fffffffu;
        largest = max(max(largest, max(size.x, size.y)), max(size.z, size.w));
    }
    const uint exponent = largest >> 23;
    const float inverse = exponent < 7 ? 0 : uintBitsToFloat((260 - exponent) << 23);
    const uint scale = exponent < 7 ? 0 : exponent == 255 ? 0x7fc00000u : (exponent - 6) << 23;
    const uint at = row + place_of(block / 2, block / 2 % DEPTH);
    int sum = 0;
    [[unroll]] for (uint w = 0; w < 2; ++w) {
        uvec4 codes;
        [[unroll]] for (uint j = 0; j < 4; ++j) {
            // The low bits of 1.5 * 2^23 plus a number are that number, rounded.
            const uvec4 c = min(floatBitsToUint(fma(x[4 * w + j], vec4(inverse), vec4(12582912))), uvec4(0x4b40007fu));
            codes[j] = c.x & 255 | (c.y & 255) << 8 | (c.z & 255) << 16 | c.w << 24;
            sum = dotPacked4x8EXT(int(codes[j]), 0x01010101) + sum;
        }
        a_step[at + 2 * (block & 1) + w] = codes;
    }
    a_step[at + 4][block & 1] = scale;
    a_step[at + 4][2 + (block & 1)] = uint(sum);
}
void finish_a_step() {
    [[unroll]] for (uint i = 0; i < COPIES; ++i) {
        const uint e = i * WG + gl_LocalInvocationIndex, v = e / (STEP / 32);
        if (v >= BM) continue;
        vec4 x[8];
        [[unroll]] for (uint t = 0; t < 8; ++t) x[t] = four_of_block(i, t);
        store_block(v * ROW_A, e % (STEP / 32), x);
    }
}

void store_a_step() {
    if (TWICE_A) {
        [[unroll]] for (uint i = 0; i < VECTOR_COPIES; ++i) {
            const uint e = i * WG + gl_LocalInvocationIndex;
            if (VECTORS % WG == 0 || e < VECTORS) a_vectors[e + e / PER_BLOCK] = copied[i];
        }
    } else {
        finish_a_step();
    }
}

int four_dots(uvec4 codes, uvec4 x) {
    int sum = 0;
    [[unroll]] for (uint j = 0; j < 4; ++j) sum += dotPacked4x8EXT(int(codes[j]), int(x[j]));
    return sum;
}

void multiply(uint p, uint place) {
    const uint in_block = DEPTH == 4 ? p : place;  // which of 4, at least
    [[unroll]] for (uint h = 0; h < 2; ++h) {
        uvec4 codes[2 * R];
        vec2 factors[R];
        [[unroll]] for (uint r = 0; r < R; ++r) {
            factors[r] = chunk64_dot_scales(r * DEPTH + p, in_block, h);
            [[unroll]] for (uint j = 0; j < 8; ++j)
                codes[2 * r + j / 4][j % 4] = chunk64_codes4(r * DEPTH + p, in_block, h, j);
        }
        // Which half of A's chunk these elements are multiplied by, and where it is.
        const uint half_a = HALVES_ALTERNATE ? in_block & 1 : h;
        const uint first_a = place_of(place, p) + (HALVES_ALTERNATE && DEPTH == 1 ? LANE_A : 5) * (h - half_a);
        [[unroll]] for (uint v = 0; v < BM; ++v) {
            const uint at = v * ROW_A + first_a;
            const uvec4 low = a_step[at + 2 * half_a], high = a_step[at + 2 * half_a + 1], both = a_step[at + 4];
            const float scale = uintBitsToFloat(both[half_a]);
            const int sum = int(both[2 + half_a]);
            [[unroll]] for (uint r = 0; r < R; ++r) {
                const int first = four_dots(codes[2 * r], low), second = four_dots(codes[2 * r + 1], high);
                const float total = BY_SIXTEEN ? float(first) * factors[r].x + float(second) * factors[r].y
                                               : float(first + second - CODE_BIAS * sum) * factors[r].x -
                                                     (HAS_OFFSET ? factors[r].y * float(sum) : 0);
                sums[r * BM + v] = fma(total, scale, sums[r * BM + v]);
            }
        }
    }
}

void put_part(uint at, float sum) { a_step[at / 4][at % 4] = floatBitsToUint(sum); }
float part_at(uint at) { return uintBitsToFloat(a_step[at / 4][at % 4]); }
