// SPDX-License-Identifier: MIT
// The first pass of f64 from int8: makes whole numbers of the rows of A, or of the columns of B, and writes their
// remainders by each modulus p. Only integers are used, so the device needs no f64, and every device writes the same.
//
//     A, m x k           work group: BM rows                       D, the workspace: a plane for each modulus
//     +-----------+      1. the largest element of each row        +---------+  +---------+
//     |###########|      2. the sum of squares: its exponent mu    | mod 256 |  | mod 255 |  ...  m rows of ldd int8,
//     |           |      3. trunc(2^mu a) in tiles of BN columns   |         |  |         |       zeros after k
//     +-----------+         of shared memory, modulo each p        +---------+  +---------+    (i32 on devices that
//                                                                  C: the exponent of each row  store no int8)
//
// The exponents are as large as the product of any row and column allows to be found again (exponent_of in scale.glsl).
// A row that has an infinity or a NaN has NOT_FINITE in place of its exponent, and zeros. What is split ahead (FORMAT_B
// is not 0) is copied to B too, for what such rows need later.
#extension GL_GOOGLE_include_directive : require
#include "common/int8_operands.glsl"
#include "split_int8/scale.glsl"
#include "split_int8/shared_memory.h"

WORDS(a, uvec2, 8, BIND_A, readonly)
WORDS(b, uvec2, 8, BIND_B, writeonly)
WORDS(c, int, 4, BIND_C, writeonly)
WORDS(d, uint, 4, BIND_D, writeonly)

const uint LANES = WG / BM;  // invocations of a row
const uint QUADS = BN / 4;   // of a row of the tile
const bool IN_BYTES = FORMAT_D != VKGEMM_TYPE_I32;
const uint PER_WORD = IN_BYTES ? 4 : 1;  // elements of D
const uint NO_NUMBER = 2047 + 52;  // order_of() an infinity or a NaN; that of a number is less
shared uvec2 tile[SPLIT_INT8_TILE(BM, BN)];
shared uvec2 squares[WG];
shared uint greatest[BM];
shared int exponents[BM];

// An element of A, or 0 past its end.
uvec2 element(uint row, uint k) {
    const uint r = min(row, args.m - 1), q = min(k, args.k - 1);
    const uvec2 x = AT(a, args.a.x, TRANS_A != 0 ? q * args.lda + r : r * args.lda + q);
    return k < args.k ? x : uvec2(0);
}

// Finds the exponents of the rows from row0 on, of which this invocation reads elements `lane`, `lane` + LANES, ...
void measure(uint row0, uint row, uint lane) {
    const uint tid = gl_LocalInvocationIndex;
    if (tid < BM) greatest[tid] = 0;
    barrier();
    uint order = 0;
    for (uint k = lane; k < args.k; k += LANES) order = max(order, order_of(element(row0 + row, k)));
    atomicMax(greatest[row], order);
    barrier();
    order = greatest[row];
    uvec2 sum = uvec2(0);
    if (order < NO_NUMBER)
        for (uint k = lane; k < args.k; k += LANES) {
            const uint x = rounded_up(element(row0 + row, k), order);
            uint high, low;
            umulExtended(x, x, high, low);
            sum.x += low;
            sum.y += high + (sum.x < low ? 1 : 0);
        }
    squares[row * LANES + lane] = sum;
    barrier();
    if (tid < BM) {
        sum = uvec2(0);
        for (uint i = 0; i < LANES; ++i) {
            const uvec2 part = squares[tid * LANES + i];
            sum.x += part.x;
            sum.y += part.y + (sum.x < part.x ? 1 : 0);
        }
        exponents[tid] = greatest[tid] < NO_NUMBER ? exponent_of(sum, greatest[tid]) : NOT_FINITE;
        if (row0 + tid < args.m) AT(c, args.c.x / 4, row0 + tid) = exponents[tid];
    }
    barrier();
}

// Four numbers, 20 bits at a time, of 60 in all, or 80; one that is `negative` (1) is 2^60 more, or 2^80. And `low` is
// OFFSET more, so that the remainder by p, less OFFSET, is what an int8 holds. For p = 256, 128 and -128 are the same.
struct Four {
    uvec4 low, middle, high, top, negative;
};
const uint OFFSET = 127;

Four whole_numbers(uint row, uint k) {
    Four x;
    [[unroll]] for (uint i = 0; i < 4; ++i) {
        const uvec2 number = tile[row * (BN + 1) + k + i];
        const bool is_number = exponents[row] != NOT_FINITE;
        uvec3 whole = is_number ? whole_of(number, exponents[row]) : uvec3(0);
        const bool is_negative = number.y >= F64_SIGN && (whole.x | whole.y | whole.z) != 0;
        if (is_negative)
            whole = uvec3(-whole.x, ~whole.y + (whole.x == 0 ? 1 : 0), ~whole.z + ((whole.x | whole.y) == 0 ? 1 : 0));
        x.low[i] = (whole.x & 0xfffff) + OFFSET;
        x.middle[i] = (whole.x >> 20 | whole.y << 12) & 0xfffff;
        x.high[i] = whole.y >> 8 & 0xfffff;
        x.top[i] = (whole.y >> 28 | whole.z << 4) & 0xfffff;
        x.negative[i] = is_negative ? 1 : 0;
    }
    return x;
}

// Their remainders by the t-th modulus, and OFFSET more.
uvec4 remainders(Four four, uint t, uint of_20, uint of_40, uint of_60) {
    const uvec3 modulus = MODULUS[t + 1];
    const uint of_sign = modulus.x - (WIDE ? of_40 * of_40 % modulus.x : of_60);  // -2^80 modulo p, or -2^60
    uvec4 x = four.low + four.middle * of_20 + four.high * of_40 + four.negative * of_sign;
    if (WIDE) x += four.top * of_60;
    return remainder_of(x, modulus);
}

// Writes the words from the i-th on, of numbers below 256 from which OFFSET is subtracted: one word, or four of i32.
void put(uint i, uvec4 x) {
    if (IN_BYTES) {
        const uint bytes = x.x | x.y << 8 | x.z << 16 | x.w << 24;
        // + 129 in each byte, whose carry is dropped.
        AT(d, args.d.x / 4, i) = ((bytes & 0x7f7f7f7f) + 0x01010101) ^ (~bytes & 0x80808080);
    } else {
        [[unroll]] for (uint j = 0; j < 4; ++j) AT(d, args.d.x / 4, i + j) = x[j] - OFFSET;
    }
}

// Writes what is in shared memory of the columns from k0 on.
void write_planes(uint row0, uint k0) {
    const uint pitch = args.ldd / PER_WORD, plane = args.m * pitch;
    for (uint i = gl_LocalInvocationIndex; i < BM * QUADS; i += WG) {
        const uint row = i / QUADS, k = i % QUADS * 4;
        const uint at = (row0 + row) * pitch + (k0 + k) / PER_WORD;
        if (row0 + row >= args.m || k0 + k >= args.ldd) continue;
        const Four x = whole_numbers(row, k);
#define X(t, p, reciprocal, of_20, of_40, of_60) \
    if (t < PRODUCTS) put(at + t * plane, remainders(x, t, of_20, of_40, of_60));
        VKGEMM_MODULI(X)
#undef X
    }
}

void main() {
    const uint row0 = work_group() * BM, tid = gl_LocalInvocationIndex;
    if (args.k == 0 || row0 >= args.m) return;
    // Neighbours read neighbours in memory.
    const uint row = TRANS_A != 0 ? tid % BM : tid / LANES, lane = TRANS_A != 0 ? tid / BM : tid % LANES;
    measure(row0, row, lane);
    for (uint k0 = 0; k0 < args.ldd; k0 += BN) {
        for (uint k = lane; k < BN; k += LANES) {
            const uvec2 x = element(row0 + row, k0 + k);
            tile[row * (BN + 1) + k] = x;
            if (FORMAT_B != 0 && row0 + row < args.m && k0 + k < args.k)
                AT(b, args.b.x, (row0 + row) * args.k + k0 + k) = x;
        }
        barrier();  // the tile is complete
        write_planes(row0, k0);
        barrier();  // it may be overwritten
    }
}
