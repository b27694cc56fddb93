// SPDX-License-Identifier: MIT
// The shared memory of gemv_coopmat, in vectors of 16 bytes; chunk64.glsl includes this. It holds A as f16, and behind
// A first the words of B, then parts of its chunks as f16. At the end it holds sums. Rows and columns are an odd number
// of vectors apart, so that they begin in different banks.
#ifndef VKGEMM_CHUNK64_MATRIX_GLSL
#define VKGEMM_CHUNK64_MATRIX_GLSL

const uint COLUMN = ((COLUMN_WORDS + 3) / 4 | 1) * 4;   // words
const uint PART = 16 * TN;                              // elements of a chunk that are exchanged at once
const uint SIDE = BN / SG, SUBGROUPS = WG / SG;         // subgroups side by side; all of them
const uint ROW_A = STEP / 8 + 1, ROW_B = PART / 8 + 1, ROW_D = SG / 4 + 1;
const uint SIZE_A = BM * ROW_A, SIZE_B = BN * COLUMN / 4 + 3, SIZE_PARTS = SUBGROUPS * SG * ROW_B;
const uint SIZE_D = SUBGROUPS * MM * ROW_D, MATRIX_A = MM * ROW_A;  // rows of A's matrix beyond BM are not used
const uint B_BASE = SIZE_A, SIZE_1 = SIZE_A + (SIZE_B > SIZE_PARTS ? SIZE_B : SIZE_PARTS);
const uint SIZE_2 = MATRIX_A > SIZE_D ? MATRIX_A : SIZE_D;
shared uvec4 b_step[SIZE_1 > SIZE_2 ? SIZE_1 : SIZE_2];

#endif
