// SPDX-License-Identifier: MIT
// Products of a small K on the matrix units, which are bound by writing D. It grows from `coopmat`: B of the whole K
// stays in registers, and the work group walks down D. After the start no subgroup waits for another one.
//
//                     B  +-----+-----+
//                        |     |     |  BK, in the fragments of a subgroup
//       A                +-----+-----+ D
//       +---- BK ----+   |  0  |  1  |  WM rows )  a turn: A -> registers -> shared -> fragments -> units
//       |            |   |  2  |  3  |          )          sums -> finished, in pairs -> shared -> D
//       +------------+   +-----+-----+
//       |            |   |     |     |  the next turn, whose A is in flight meanwhile; BM rows in all
//                           WN
//
// Fragments are finished in registers, as in matrix_out.glsl. Two elements of 16 bits, whose columns are WN/2 apart,
// share a word of shared memory, so a subgroup needs one exchange a turn. The host takes this family only if the
// epilogue and D allow that, A and B are wide, and K is at most BK.
#extension GL_GOOGLE_include_directive : require
#define VKGEMM_MATRIX_UNITS
#include "common/gemm.glsl"
#include "common/chunk16.glsl"
#include "common/matrix.glsl"

const uint CHUNK_OF = PER_CHUNK(TYPE_A);          // elements
const bool KA = TRANS_A == 0, KB = TRANS_B != 0;  // is the operand k-contiguous?
const uint NI = WM / MM, NJ = WN / MN, NK = BK / MK;
const uint SHARES = WG / SG, SETS = 1, ABREAST = BN / WN, TURN = SHARES / ABREAST * WM;  // subgroups; rows of a turn
// Rows of A and B as they are in memory, which shared memory keeps, and the chunks of one.
const uint DOWN_A = KA ? WM : BK, ACROSS_A = (KA ? BK : WM) / CHUNK_OF, ROW_A = ACROSS_A + 1;
const uint DOWN_B = KB ? BN : BK, ACROSS_B = (KB ? BK : BN) / CHUNK_OF, ROW_B = ACROSS_B + 1;
const uint STEP_A = SG / ACROSS_A, LOADS_A = DOWN_A / STEP_A, LOADS_B = DOWN_B * ACROSS_B / WG;
// A subgroup's part of shared memory holds its rows of A, and after them its rows of D.
const uint FOR_A = DOWN_A * ROW_A, ROW_D = WN / 8 + 1, PART = FOR_A > WM * ROW_D ? FOR_A : WM * ROW_D;
const uint FOR_B = DOWN_B * ROW_B, BIAS = SHARES * PART > FOR_B ? SHARES * PART : FOR_B;
shared uvec4 tile[BIAS + BN / 4];  // B before the first turn; at the end a row of the bias

SUMS sums[NI * NJ];
A_MATRIX part_a[NI];
B_MATRIX kept[NK * NJ];
uvec4 coming[LOADS_A];  // rows of A
uint row0, col0, sub_row, sub_col, set;

#include "common/matrix_out.glsl"

// Loads the subgroup's rows of A from `row` on.
void fetch(uint row) {
    const uint down = LANE / ACROSS_A, place = LANE % ACROSS_A * CHUNK_OF;
    const uint first = KA ? (row + down) * args.lda + place : down * args.lda + row + place;
    const uint at = (batch * args.batch_a + first) / CHUNK_OF;
    [[unroll]] for (uint i = 0; i < LOADS_A; ++i) {
        const uint r = KA ? row + down + i * STEP_A : row + place, k = KA ? place : down + i * STEP_A;
        if (WHOLE != 0) {
            coming[i] = CHUNK(a, at + i * STEP_A * (args.lda / CHUNK_OF));
        } else {
            const uvec4 chunk = CHUNK(a, index_a(r, k) / CHUNK_OF);
            coming[i] = inside(r, k, args.m, args.k) ? chunk : uvec4(0);
        }
    }
}

void keep_b() {
    [[unroll]] for (uint i = 0; i < LOADS_B; ++i) {
        const uint e = gl_LocalInvocationIndex + i * WG, down = e / ACROSS_B, across = e % ACROSS_B;
        const uint k = KB ? across * CHUNK_OF : down, col = col0 + (KB ? down : across * CHUNK_OF);
        const uvec4 chunk = CHUNK(b, index_b(k, col) / CHUNK_OF);
        tile[down * ROW_B + across] = inside(k, col, args.k, args.n) ? chunk : uvec4(0);
    }
    barrier();
    const uint at = KB ? sub_col * ROW_B : sub_col / CHUNK_OF;
    [[unroll]] for (uint s = 0; s < NK; ++s)
        [[unroll]] for (uint j = 0; j < NJ; ++j)
            if (KB) coopMatLoad(kept[s * NJ + j], tile, at + j * MN * ROW_B + s * MK / CHUNK_OF, ROW_B, COLUMNS);
            else coopMatLoad(kept[s * NJ + j], tile, at + s * MK * ROW_B + j * MN / CHUNK_OF, ROW_B, ROWS);
    barrier();  // its place in shared memory is free
}

void multiply(uint part) {
    [[unroll]] for (uint s = 0; s < NK; ++s) {
        [[unroll]] for (uint i = 0; i < NI; ++i)
            if (KA) coopMatLoad(part_a[i], tile, part + i * MM * ROW_A + s * MK / CHUNK_OF, ROW_A, ROWS);
            else coopMatLoad(part_a[i], tile, part + s * MK * ROW_A + i * MM / CHUNK_OF, ROW_A, COLUMNS);
        [[unroll]] for (uint i = 0; i < NI; ++i)
            [[unroll]] for (uint j = 0; j < NJ; ++j)
                sums[i * NJ + j] = coopMatMulAdd(part_a[i], kept[s * NJ + j], sums[i * NJ + j]);
    }
}

void load_bias() {
    const uint e = gl_LocalInvocationIndex;
    if (BIASED == 0 || e >= BN / 4) return;
    uvec4 four;
    [[unroll]] for (uint j = 0; j < 4; ++j) four[j] = floatBitsToUint(bias_at(nearest(col0 + 4 * e + j, args.n)));
    tile[BIAS + e] = four;
}

void store_turn(uint part) {
    FINISHING bias[NJ];
    read_scalars();
    if (BIASED != 0)
        [[unroll]] for (uint j = 0; j < NJ; ++j) coopMatLoad(bias[j], tile, BIAS + (sub_col + j * MN) / 4, 0, ROWS);
    [[unroll]] for (uint i = 0; i < NI; ++i)
        [[unroll]] for (uint j = 0; j < NJ / 2; ++j) {
            FINISHING x = TO_FINISHING(sums[i * NJ + j]);
            const FINISHING y = TO_FINISHING(sums[i * NJ + j + NJ / 2]);
            [[unroll]] for (uint e = 0; e < x.length(); ++e)
                x[e] = uintBitsToFloat(HALVES(finished_anywhere(x[e], bias[j][e]),
                                              finished_anywhere(y[e], bias[j + NJ / 2][e])));
            coopMatStore(x, tile, part + i * MM * ROW_D + j * MN / 4, ROW_D, ROWS);
        }
    wait_for_part();
    const uint across = WN / 16;
    [[unroll]] for (uint i = 0; i < WM * across / SG; ++i) {
        const uint e = LANE + i * SG, down = e / across, at = part + down * ROW_D + e % across * 2;
        const uvec4 x = tile[at], y = tile[at + 1];
        const uint row = row0 + sub_row + down, col = col0 + sub_col + e % across * 8, right = col + WN / 2;
        const uint place = index_d(row, col);
        if (is_in_d(row, col)) EIGHT_OF_D(place) = lower_halves(x, y);
        if (is_in_d(row, right)) EIGHT_OF_D(place + WN / 2) = upper_halves(x, y);
    }
    wait_for_part();
}

void main() {
    if (!tile_of(row0, col0)) return;
    set = 0;
    sub_row = SUBGROUP / ABREAST * WM;
    sub_col = SUBGROUP % ABREAST * WN;
    const uint end = min(args.m, row0 + BM), part = SUBGROUP * PART;
    const uint put = part + LANE / ACROSS_A * ROW_A + LANE % ACROSS_A;
    const bool any = args.k != 0;  // else A and B may not be there
    load_bias();
    if (any) fetch(row0 + sub_row);
    if (any) keep_b();
    else barrier();  // the bias is complete
    for (; row0 < end; row0 += TURN) {
        [[unroll]] for (uint i = 0; i < NI * NJ; ++i) sums[i] = NO_SUMS;
        if (any) {
            [[unroll]] for (uint i = 0; i < LOADS_A; ++i) tile[put + i * STEP_A * ROW_A] = coming[i];
            wait_for_part();
            if (row0 + TURN < end) fetch(row0 + TURN + sub_row);
            multiply(part);
            wait_for_part();
        }
        store_turn(part);
    }
}
