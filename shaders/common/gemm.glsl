// SPDX-License-Identifier: MIT
// What every family shares: constants, arguments, operands, the tile of a work group, and how a sum becomes an element
// of D.
//
// Edges. An element outside its operand counts as 0, and nothing outside an operand is touched: the nearest element
// that exists is read instead and replaced by 0. The code has no branch there, because some drivers perform a load
// whose address is uniform even where a branch has switched every invocation off. It selects and does not multiply,
// because a NaN times 0 is NaN. Where WHOLE is set no edge is tested: a family that steps past k_end must test k
// itself.
#ifndef VKGEMM_GEMM_GLSL
#define VKGEMM_GEMM_GLSL
#include "common/extensions.glsl"
#include "common/types.glsl"
#include "abi.h"

#define X(id, name, meaning) layout(constant_id = id) const uint name = 1;
VKGEMM_TILE_CONSTANTS(X)
#undef X
#define X(id, name, meaning) layout(constant_id = id) const uint name = 0;
VKGEMM_PROBLEM_CONSTANTS(X)
#undef X
layout(local_size_x_id = 0) in;  // WG

#ifndef VKGEMM_GROUPED
layout(push_constant, std430) uniform Push { GemmArgs args; };
#endif

// Every index that touches an operand passes through NOTED, in units of `size` elements: the modules of `vkgemm cover`,
// which are built with VKGEMM_TRACE, record it there.
#ifdef VKGEMM_TRACE
#include "common/trace.glsl"
#else
#define NOTED(name, i, size) (i)
#endif

#ifdef VKGEMM_GROUPED
#include "common/grouped.glsl"
#endif

#include "common/operands.glsl"
OPERAND(a, TYPE_A, BIND_A, readonly)
OPERAND(b, TYPE_B, BIND_B, readonly)

// Of a pair, a family that defines VKGEMM_PAIRS sums up twice: first the gate, by B2. OF_B reads the B of the sum. In
// modules that are optimised both sums are code of their own, because what a branch loads is waited for where it ends.
// Others loop: drivers do not inline what is called twice, and then keep arrays in memory.
bool is_gate = false;
#define SUM_UP_GATE(statement) \
    if (PAIR != 0) {           \
        is_gate = true;        \
        statement              \
        is_gate = false;       \
    }
#ifdef VKGEMM_PAIRS
OPERAND(b2, TYPE_B, BIND_C, readonly)
#define BY_B2 (PAIR != 0 && is_gate)
#else
#define BY_B2 false
#endif
#define B_BEGIN (BY_B2 ? args.c : args.b)
#if defined(VKGEMM_PAIRS) && !defined(VKGEMM_ADDRESSES)
#define OF_B(FROM, i) (BY_B2 ? FROM(b2, args.c, i) : FROM(b, args.b, i))
#else
#define OF_B(FROM, i) FROM(b, B_BEGIN, i)
#endif
OPERAND(partial, ACC, BIND_D, )  // PARTIAL: sums or remainders, in the workspace: [slice][batch][row][column]
#include "common/elements.glsl"

// What this work group computes, in addition to its tile. tile_of sets these globals; loads and stores read them.
uint batch;           // which product of the batch
uint slice;           // which slice of K, where K is split
uint k_begin, k_end;  // the part of K that it sums over

// The number of slices that K is cut into; 0 for an empty sum.
uint slices() { return args.k == 0 ? 0 : (args.k + args.k_chunk - 1) / args.k_chunk; }

// Finds the tile of D that this work group computes: its first row and column, and the globals above. Returns false
// past the last tile. Tiles are numbered along bands of `raster` rows of tiles, down the band first, so that groups
// that run together share rows of A and columns of B in the cache; then come the products of the batch, then the slices
// of K.
bool tile_of(out uint row0, out uint col0) {
    uint linear = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
#ifdef VKGEMM_GROUPED
    row0 = col0 = 0;
    if (!find_group(linear)) return false;
#endif
    const uint down = (args.m + BM - 1) / BM, across = (args.n + BN - 1) / BN;
    const uint band_rows = min(max(args.raster, 1), down);
    const uint tile = linear % (down * across);
    const uint band = tile / (band_rows * across), in_band = tile % (band_rows * across);
    const uint rows = min(band_rows, down - band * band_rows);  // the last band may be lower
    row0 = (band * band_rows + in_band % rows) * BM;
    col0 = in_band / rows * BN;
    const uint place = linear / (down * across);
    batch = place % args.batch;  // a product that exists even where the result is false
    slice = place / args.batch;
    k_begin = PARTIAL != 0 ? slice * args.k_chunk : 0;
    k_end = PARTIAL != 0 ? min(args.k, k_begin + args.k_chunk) : args.k;
    return slice < (PARTIAL != 0 ? max(slices(), 1) : 1);
}

// (row, column) of the i-th element of a rows x cols tile, counted in the order of memory.
uvec2 spread(uint i, uint rows, uint cols, uint transposed) {
    return transposed != 0 ? uvec2(i % rows, i / rows) : uvec2(i / cols, i % cols);
}

bool inside(uint row, uint col, uint rows, uint cols) { return WHOLE != 0 || (row < rows && col < cols); }

// The nearest index that exists, of `count`. Along k the bound is applied even where the tile divides k, because at the
// end of a loop such a driver loads once more, and a test that repeats the loop's would be optimised away.
uint nearest(uint i, uint count) { return WHOLE != 0 ? i : min(i, count - 1); }
uint nearest_k(uint k) { return min(k, k_end - 1); }

#ifdef VKGEMM_GROUPED
#define ROW_OF_A(row) row_of_a(row)
#define ROW_OF_D(row) row_of_d(row)
#define HAS_ROW(row) has_row(row)
#else
#define ROW_OF_A(row) (row)
#define ROW_OF_D(row) (row)
#define HAS_ROW(row) true
#endif
uint index_a(uint row, uint k) {
    const uint r = ROW_OF_A(nearest(row, args.m)), q = nearest_k(k);
    return batch * args.batch_a + (TRANS_A != 0 ? q * args.lda + r : r * args.lda + q);
}
uint index_b(uint k, uint col) {
    const uint q = nearest_k(k), c = nearest(col, args.n);
    return batch * args.batch_b + (TRANS_B != 0 ? c * args.ldb + q : q * args.ldb + c);
}

// Element i of A or B as a value, and elements i to i + 3, where i is a multiple of 4. PLAIN_*_AT: of an operand that
// has no blocks, for modules of mixed types a tenth of the code.
#ifdef VKGEMM_MIXED
#include "common/mixed.glsl"
#define PLAIN_A_AT(i) plain_element(true, i)
#define PLAIN_B_AT(i) plain_element(false, i)
#define A_AT(i) element_of(true, i)
#define B_AT(i) element_of(false, i)
#define A4_AT(i) load4(true, i)
#define B4_AT(i) load4(false, i)
#else
#define PLAIN_A_AT(i) A_AT(i)
#define PLAIN_B_AT(i) B_AT(i)
#define A_AT(i) LOAD(TYPE_A, ONE(a, i))
// A branch between values of 16 bits would need shaderInt16, so they are converted in it.
#define B_FROM(name, begin, i) LOAD(TYPE_B, ONE_FROM(name, begin, i))
#define B4_FROM(name, begin, i) LOAD4(TYPE_B, FOUR_FROM(name, begin, i))
#define B_AT(i) OF_B(B_FROM, i)
#define A4_AT(i) LOAD4(TYPE_A, FOUR(a, i))
#define B4_AT(i) OF_B(B4_FROM, i)
#endif

// The functions that load an operand. A is M x K and B is K x N, of which this work group reads rows x cols.
//   load_x        element (row, col) as a value; load_plain_x is for an operand without blocks
//   load_x4       four neighbours in memory from (row, col) on: along a row where the operand is row-major, down a
//                 column where it is column-major. The first one's place in that direction is a multiple of 4. WIDE_X
//                 means that either all four are outside or none is; operands with blocks have it.
#define LOADS_OF(X, x, rows, cols)                                                            \
    acc_t load_##x(uint row, uint col) {                                                      \
        const acc_t value = X##_AT(index_##x(row, col));                                      \
        return inside(row, col, rows, cols) ? value : acc_t(0);                               \
    }                                                                                         \
    acc_t load_plain_##x(uint row, uint col) {                                                \
        const acc_t value = PLAIN_##X##_AT(index_##x(row, col));                              \
        return inside(row, col, rows, cols) ? value : acc_t(0);                               \
    }                                                                                         \
    acc4_t load_##x##4(uint row, uint col) {                                                  \
        if ((ALIGNED & WIDE_##X) != 0) {                                                      \
            const acc4_t value = X##4_AT(index_##x(row, col));                                \
            return inside(row, col, rows, cols) ? value : acc4_t(0);                          \
        }                                                                                     \
        const uvec2 next = TRANS_##X != 0 ? uvec2(1, 0) : uvec2(0, 1);                        \
        return acc4_t(load_plain_##x(row, col), load_plain_##x(row + next[0], col + next[1]), \
                      load_plain_##x(row + 2 * next[0], col + 2 * next[1]),                   \
                      load_plain_##x(row + 3 * next[0], col + 3 * next[1]));                  \
    }
LOADS_OF(A, a, args.m, k_end)
LOADS_OF(B, b, k_end, args.n)

#include "common/epilogue.glsl"
#include "common/store.glsl"

#endif
