// SPDX-License-Identifier: MIT
// f32 products on matrix units that do not take f32. A first pass (pack_fragments_bf16x3) has split each element into
// three bf16 parts, which hold any f32 exactly. The family grows from `coopmat_packed`.
//
//     a = a0 + a1 2^-8 + a2 2^-16         a0 b0                   -> now        every BK of depth into sums, in f32
//     b = b0 + b1 2^-8 + b2 2^-16         a0 b1 + a1 b0           -> small      2^8 times too large
//     (bf16, eight digits each)           a0 b2 + a1 b1 + a2 b0   -> smallest   2^16 times too large
//                                         a1 b2 + a2 b1 + a2 b2: less than f32's own rounding, left out
//
//     work group BM x BN         subgroup WM x WN: four kinds of sums, of MM x MN each
//     +--------+--------+        +----+----+
//     |subgroup|subgroup|   =    |    |    | MM     fragments: of three parts of MM x MK of A, and of MK x MN of B
//     +--------+--------+        +----+----+
//
// The second parts are kept 2^8 times too large, the third 2^16 times (see split_f32.glsl), so their products have sums
// of their own, which are scaled down and added to the others at the end. What the units round away of them is scaled
// down, too, so these sums can stay in the units until then.
#extension GL_GOOGLE_include_directive : require
#define VKGEMM_MATRIX_UNITS
#define UNIT_A bf16
#define UNIT_B bf16
#define PARTS 3
#include "f32_split/coopmat_split.glsl"
#include "common/matrix_out.glsl"

SUMS small[NI * NJ], smallest[NI * NJ];

void multiply_small(uint x, uint y) {
    EACH(i, NI) EACH(j, NJ) small[i * NJ + j] = coopMatMulAdd(a[x * NI + i], b[y * NJ + j], small[i * NJ + j]);
}
void multiply_smallest(uint x, uint y) {
    EACH(i, NI) EACH(j, NJ) smallest[i * NJ + j] = coopMatMulAdd(a[x * NI + i], b[y * NJ + j], smallest[i * NJ + j]);
}

// Six of nine products.
void multiply_all() {
    multiply_smallest(0, 2);
    multiply_smallest(1, 1);
    multiply_smallest(2, 0);
    multiply_small(0, 1);
    multiply_small(1, 0);
    multiply(0, 0);
}

// Two bf16 in each word, each divided by 2^by; 0 where that is too small for a bf16.
uvec4 divided(uvec4 x, uint by) {
    const uvec4 least = uvec4(by << 7), low = x & 0xffffu, high = x >> 16;
    return mix(uvec4(0), low - least, greaterThan(low & 0x7fffu, least)) |
           mix(uvec4(0), high - least, greaterThan(high & 0x7fffu, least)) << 16;
}
void divide_a(uint i, uint by) {
    if (a[i].length() * SG == MM * MK) {
        unpack_a(i, 0, divided(BITS_OF(a[i], 0), by));
    } else {
        for (uint e = 0; e < a[i].length(); ++e)
            a[i][e] = uintBitsToBFloat16EXT(uint16_t(divided(uvec4(bfloat16BitsToUintEXT(a[i][e])), by).x));
    }
}
void divide_b(uint j, uint by) {
    if (b[j].length() * SG == MK * MN) {
        unpack_b(j, 0, divided(BITS_OF(b[j], 0), by));
    } else {
        for (uint e = 0; e < b[j].length(); ++e)
            b[j][e] = uintBitsToBFloat16EXT(uint16_t(divided(uvec4(bfloat16BitsToUintEXT(b[j][e])), by).x));
    }
}

// Sums all products into `small`, from parts of their true size.
void sum_true_sizes(uint first, uint end) {
    EACH(i, NI * NJ) small[i] = SUMS(SUM(0));
    for (uint s = first; s < end; ++s) {
        fetch_even(s);
        take_even(s);
        EACH(i, NI) { divide_a(NI + i, 8); divide_a(2 * NI + i, 16); }
        EACH(j, NJ) { divide_b(NJ + j, 8); divide_b(2 * NJ + j, 16); }
        clear_now();
        multiply(0, 2);
        multiply(1, 1);
        multiply(2, 0);
        multiply(0, 1);
        multiply(1, 0);
        multiply(0, 0);
        EACH(i, NI * NJ) small[i] += now[i];
    }
}

// Replaces each sum that is not finite. If the sum of first parts is not finite either, that is the result, as in IEEE
// arithmetic. Else only products of parts that are kept too large have left f32's range, and the result is the sum from
// parts of their true size.
void mend(uint first, uint end) {
    if (!any_not_finite()) return;
    sum_first_parts(first, end);
    const SUM infinity = uintBitsToFloat(0x7f800000u);
    EACH(i, NI * NJ) EACH(e, sums[i].length())
        sums[i][e] = is_finite(sums[i][e]) ? sums[i][e] : is_finite(now[i][e]) ? infinity : now[i][e];
    sum_true_sizes(first, end);
    EACH(i, NI * NJ) EACH(e, sums[i].length())
        sums[i][e] = is_finite(sums[i][e]) ? sums[i][e] : isnan(small[i][e]) ? sums[i][e] : small[i][e];
}

void sum_up() {
    const uvec2 slices = find_slices();
    const uint first = slices.x, end = slices.y;
    fetch_even(first);
    EACH(i, NI * NJ) small[i] = smallest[i] = SUMS(SUM(0));
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
    EACH(i, NI * NJ) sums[i] += (smallest[i] * SUM(1.0 / 256) + small[i]) * SUM(1.0 / 256);
    mend(first, end);
}

void main() {
    if (!begin_tile()) return;
    if (k_end > k_begin) sum_up();
    store();
}
