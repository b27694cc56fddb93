// SPDX-License-Identifier: MIT
// f32 products on matrix units that do not take f32. A first pass (pack_fragments_f16x2) has multiplied each row of A
// and each column of B by a power of two, and split each element into two f16 parts. The family grows from
// `coopmat_packed`.
//
//     a 2^ea = a0 + a1     a0 b1 + a1 b0 + a0 b0   -> now, every BK of depth into sums, in f32; at the end times
//     b 2^eb = b0 + b1     a1 b1: left out            2^-ea of the row and 2^-eb of the column
//     (f16, eleven digits each)
//
//     work group BM x BN         subgroup WM x WN: two kinds of sums, of MM x MN each
//     +--------+--------+        +----+----+
//     |subgroup|subgroup|   =    |    |    | MM     fragments: of two parts of MM x MK of A, and of MK x MN of B
//     +--------+--------+        +----+----+
#extension GL_GOOGLE_include_directive : require
#define VKGEMM_MATRIX_UNITS
#define UNIT_A f16
#define UNIT_B f16
#define PARTS 2
#include "f32_split/coopmat_split.glsl"

// Takes back the factors of a row and of four columns, in two steps, because a power of two may be too large for one.
vec4 unscaled(vec4 sum, uint row, uint col) {
    if (args.k == 0) return sum;  // because there was no first pass
    const uint r = min(row, args.m - 1), c = min(col, args.n - 1) / 4;  // what is outside is not stored
    const uint of_a = factors_of(args.m, args.lda, args.batch_a != 0 ? args.batch : 1, PARTS);
    const uint of_b = factors_of(args.n, args.ldb, args.batch_b != 0 ? args.batch : 1, PARTS);
    const uint first_a = args.batch_a != 0 ? batch * whole_row_blocks(args.m) : 0;
    const uint first_b = args.batch_b != 0 ? batch * whole_row_blocks(args.n) : 0;
    const uvec4 rows = CHUNK(a, of_a + (first_a + r) / 4);
    const ivec4 up = ivec4(CHUNK(b, of_b + first_b / 4 + c)) + int(rows[r % 4]);
    precise vec4 half_way = sum * uintBitsToFloat(uvec4((up >> 1) + 127) << 23);
    return half_way * uintBitsToFloat(uvec4(up - (up >> 1) + 127) << 23);
}
#define FINAL(sum, row, col) unscaled(sum, row, col)
#include "common/matrix_out.glsl"

// Three of four products. The small ones come first, because a large sum cannot hold all their digits.
void multiply_all() {
    multiply(0, 1);
    multiply(1, 0);
    multiply(0, 0);
}

// Replaces each sum that is not finite by the sum of first parts, which is what IEEE arithmetic gives.
void mend(uint first, uint end) {
    if (!any_not_finite()) return;
    sum_first_parts(first, end);
    EACH(i, NI * NJ) EACH(e, sums[i].length()) sums[i][e] = is_finite(sums[i][e]) ? sums[i][e] : now[i][e];
}

void sum_up() {
    const uvec2 slices = find_slices();
    const uint first = slices.x, end = slices.y;
    fetch_even(first);
    for (uint s = first; s < end;) {  // whole steps: the workspace is filled up to them with zeros
        clear_now();
        [[unroll]] for (uint depth = 0; depth < BK; depth += 2 * MK, s += 2) {
            fetch_odd(s + 1);
            take_even(s);
            multiply_all();
            fetch_even(min(s + 2, end - 1));
            take_odd(s + 1);
            multiply_all();
        }
        EACH(i, NI * NJ) sums[i] += now[i];
    }
    mend(first, end);
}

void main() {
    if (!begin_tile()) return;
    if (k_end > k_begin) sum_up();
    store();
}
