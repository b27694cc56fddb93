// SPDX-License-Identifier: MIT
// How the sums of the matrix units become D. A shader includes this after it has defined sums[], the shared array tile
// with COOPMAT_D elements, NI, NJ, ROW_D, SHARES and SETS (the subgroups that share a part), set (which of them this
// subgroup is), row0, col0, sub_row and sub_col. It may define FINAL(sum, row, col), which is applied to four sums, the
// first of them at (row, col), before the epilogue.
#ifndef FINAL
#define FINAL(sum, row, col) sum
#endif

// Waits for the subgroups that share this part of D; a subgroup that shares its part with no other waits for itself
// only.
void wait_for_part() {
    if (SETS == 1)
        controlBarrier(gl_ScopeSubgroup, gl_ScopeSubgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
    else
        barrier();
}

// Four columns at a time are read of shared memory, and written to D. Two of those are written together where they are
// 16 bytes of D: COLS columns of a row.
#define f16 1
#define bf16 2
#if TYPE_D == 1 || TYPE_D == 2
#define D_IN_HALVES
#endif
#undef f16
#undef bf16

#ifdef D_IN_HALVES
const uint COLS = WN % 8 == 0 && IN_FOURS ? 8 : 4;
#define f16_halves(x, y) packFloat2x16(f16vec2(x, y))
#define bf16_halves(x, y) (bf16_bits(x) | bf16_bits(y) << 16)
#define HALVES(x, y) VKGEMM_PASTE(TYPE_D, _halves)(x, y)
#ifdef VKGEMM_ADDRESSES
layout(buffer_reference, std430, buffer_reference_align = 16) writeonly buffer d_eight { uvec4 at[]; };
#define EIGHT_OF_D(i) d_eight(args.d).at[(i) / 8]
#else
layout(std430, set = 0, binding = BIND_D) writeonly buffer d_eight_block { uvec4 at[]; } d_eight;
#define EIGHT_OF_D(i) d_eight.at[NOTED(d, (args.d.x + (i)) / 8, 8)]
#endif
uvec2 lower;  // of eight columns, the first four

// Writes four elements of a wide D, which are the q-th four of COLS.
void put_part(uint q, uint i, acc4_t x) {
    const uvec2 four = uvec2(HALVES(x[0], x[1]), HALVES(x[2], x[3]));
    if (COLS == 4) put_d4(i, x);
    else if (q == 0) lower = four;
    else EIGHT_OF_D(i - 4) = uvec4(lower, four);
}
#else
const uint COLS = 4;
void put_part(uint q, uint i, out4_t x) { put_d4(i, x); }
#endif

// The row, and which COLS of its columns, that come e-th. Eight neighbours read 16 bytes each of shared memory at a
// time, which is fastest from eight different banks: where COLS are 32 bytes there, four of them take the next row,
// which is an odd number of 16 bytes away.
const uint ACROSS_D = WN / COLS;
uvec2 place_of(uint e) {
    return COLS == 4 || ACROSS_D % 4 != 0
               ? uvec2(e / ACROSS_D, e % ACROSS_D)
               : uvec2(e / (2 * ACROSS_D) * 2 + (e >> 2 & 1), (e >> 3) % (ACROSS_D / 4) * 4 + (e & 3));
}

// Writes D by way of shared memory, MM rows of each subgroup at a time, because whole rows are written faster than
// fragments. The subgroups that share a part add up their sums there, always in the same order; each takes every
// SETS-th vector of COLS columns.
void store() {
    const uint mine = gl_SubgroupID * MM * ROW_D, part = gl_SubgroupID % SHARES * MM * ROW_D;
    [[unroll]] for (uint i = 0; i < NI; ++i) {
        [[unroll]] for (uint j = 0; j < NJ; ++j)
            coopMatStore(coopmat<acc_t, gl_ScopeSubgroup, MM, MN, gl_MatrixUseAccumulator>(sums[i * NJ + j]), tile,
                         mine + j * MN / 4, ROW_D, ROWS);
        wait_for_part();
        for (uint e = set * SG + gl_SubgroupInvocationID; e < MM * ACROSS_D; e += SETS * SG) {
            const uvec2 place = place_of(e);
            const uint row = row0 + sub_row + i * MM + place.x;
            [[unroll]] for (uint q = 0; q < COLS / 4; ++q) {
                const uint at = part + place.x * ROW_D + place.y * (COLS / 4) + q;
                const uint col = col0 + sub_col + COLS * place.y + 4 * q;
                acc4_t sum = FOUR_OF(tile[at]);
                [[unroll]] for (uint s = 1; s < SETS; ++s) sum += FOUR_OF(tile[at + s * SHARES * MM * ROW_D]);
                sum = FINAL(sum, row, col);
                if (PARTIAL != 0) {
                    store_partial4(row, col, sum);
                } else {
                    const out4_t value = finish_d4(row, col, sum);
                    if (IN_FOURS && is_in_d(row, col)) put_part(q, index_d(ROW_OF_D(row), col), value);
                }
            }
        }
        wait_for_part();
    }
}
