// SPDX-License-Identifier: MIT
// Stands in for the matrix units, so that a device without a shape of theirs runs the kernels of that shape; only the
// tests build it (VKGEMM_EMULATED). Names are those of GL_KHR_cooperative_matrix. A subgroup of SG is played by SG
// neighbours of the work group.
//
// An invocation holds every SG-th sum of a matrix, counted row by row, and for each of them the row of A and the column
// of B that it is made of. So a product needs nothing of other invocations, and no invocation holds 16 bytes of a
// matrix, as on drivers with an order of their own. Elements are f32 or i32, in which those of all types fit; sums of
// f16 are rounded after each product.
//
// A matrix is an array. Its length is what the largest shape needs, and tells what the matrix is.
#ifndef VKGEMM_MATRIX_EMULATED_GLSL
#define VKGEMM_MATRIX_EMULATED_GLSL

#ifdef ACC_IS_I32
#define held_t int
#define sum_bits uint
#else
#define held_t float
#define sum_bits floatBitsToUint
#endif
#define A_UNIT held_t
#define SUM held_t
const int LENGTH_A = 256, LENGTH_B = 257, LENGTH_SUMS = 8;
#define A_MATRIX held_t[LENGTH_A]
#define B_MATRIX held_t[LENGTH_B]
#define SUMS held_t[LENGTH_SUMS]
#define FINISHING SUMS
#define NO_SUMS SUMS(SUM(0), SUM(0), SUM(0), SUM(0), SUM(0), SUM(0), SUM(0), SUM(0))
#define TO_SUMS(x) x
#define TO_FINISHING(x) x
#define ROWS false
#define COLUMNS true

#define SUBGROUP (gl_LocalInvocationIndex / SG)
#define LANE (gl_LocalInvocationIndex % SG)
// A wait for the subgroup is one for the work group, so every subgroup comes to it.
void wait_for_subgroup() { barrier(); }
#define HAS_WORK(condition) true

// How many sums an invocation has, and how many elements of a matrix. Past the last sum it repeats it.
const uint OWN = (MM * MN + SG - 1) / SG;
uint held_in(int matrix) { return matrix == LENGTH_SUMS ? OWN : OWN * MK; }
uint bytes_in(int matrix) { return matrix == LENGTH_SUMS ? 4 : BYTES(UNIT_A); }

// The row and the column of the e-th element that an invocation holds.
uvec2 place_in(int matrix, uint e) {
    const uint i = min((matrix == LENGTH_SUMS ? e : e / MK) * SG + LANE, MM * MN - 1);
    if (matrix == LENGTH_A) return uvec2(i / MN, e % MK);
    return matrix == LENGTH_B ? uvec2(e % MK, i % MN) : uvec2(i / MN, i % MN);
}
// Where it is in memory, an array of chunks of so many words: the chunk, and its number there.
uvec2 memory_in(int matrix, uint e, uint at, uint stride, bool by_columns, int words) {
    const uvec2 place = by_columns ? place_in(matrix, e).yx : place_in(matrix, e);
    const uint per_chunk = 4 * words / bytes_in(matrix);
    return uvec2(at + place.x * stride + place.y / per_chunk, place.y % per_chunk);
}

// An element of a word, and the word of up to four elements.
#define f16_held(word, i) unpackHalf2x16(word)[i]
#define bf16_held(word, i) uintBitsToFloat((word) >> 16 * (i) << 16)
#define i8_held(word, i) bitfieldExtract(int(word), int(8 * (i)), 8)
#define f16_from(x, y, z, w) packHalf2x16(vec2(x, y))
#define bf16_from(x, y, z, w) (floatBitsToUint(x) >> 16 | floatBitsToUint(y) & 0xffff0000u)
#define i8_from(x, y, z, w) (uint(x) & 255 | (uint(y) & 255) << 8 | (uint(z) & 255) << 16 | uint(w) << 24)
held_t element_of(int matrix, uvec4 chunk, uint i) {
    if (matrix == LENGTH_SUMS) return FOUR_OF(chunk)[i];
    const uint per_word = 4 / BYTES(UNIT_A);
    return held_t(VKGEMM_PASTE(UNIT_A, _held)(chunk[i / per_word], i % per_word));
}
held_t element_of(int matrix, uvec2 chunk, uint i) { return element_of(matrix, uvec4(chunk, 0, 0), i); }
uint word_of(int matrix, held_t x, held_t y, held_t z, held_t w) {
    return matrix == LENGTH_SUMS ? sum_bits(x) : VKGEMM_PASTE(UNIT_A, _from)(x, y, z, w);
}

// Both are loops without a block, because a semicolon follows, and perhaps `else`. Sums are stored by rows, A and B in
// lines along k.
#define MEMORY_IN(m, of, at, stride, order) memory_in(m.length(), held_e, at, stride, order, of[0].length())
#define coopMatLoad(m, from, at, stride, order)                                                \
    for (uint held_e = 0; held_e < held_in(m.length()); ++held_e)                              \
    m[held_e] = element_of(m.length(), from[MEMORY_IN(m, from, at, stride, order).x],          \
                           MEMORY_IN(m, from, at, stride, order).y)
#define HELD_AT(m, i) m[min(held_e + i, m.length() - 1)]
#define coopMatStore(m, to, at, stride, order)                                                   \
    for (uint held_e = 0; held_e < held_in(m.length()); held_e += 4 / bytes_in(m.length()))      \
    to[MEMORY_IN(m, to, at, stride, order).x]                                                    \
      [MEMORY_IN(m, to, at, stride, order).y * bytes_in(m.length()) / 4] =          \
        word_of(m.length(), m[held_e], HELD_AT(m, 1), HELD_AT(m, 2), HELD_AT(m, 3))

SUMS coopMatMulAdd(A_MATRIX a, B_MATRIX b, SUMS sums) {
    for (uint e = 0; e < OWN; ++e) {
        for (uint k = 0; k < MK; ++k) sums[e] += a[e * MK + k] * b[e * MK + k];
#ifdef ACC_IS_F16
        sums[e] = unpackHalf2x16(packHalf2x16(vec2(sums[e], 0))).x;
#endif
    }
    return sums;
}

#endif
