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

// Writes D by way of shared memory, MM rows of each subgroup at a time, because whole rows are written faster than
// fragments. The subgroups that share a part add up their sums there, always in the same order; each takes every
// SETS-th vector of four columns.
void store() {
    const uint mine = gl_SubgroupID * MM * ROW_D, part = gl_SubgroupID % SHARES * MM * ROW_D;
    [[unroll]] for (uint i = 0; i < NI; ++i) {
        [[unroll]] for (uint j = 0; j < NJ; ++j)
            coopMatStore(coopmat<acc_t, gl_ScopeSubgroup, MM, MN, gl_MatrixUseAccumulator>(sums[i * NJ + j]), tile,
                         mine + j * MN / 4, ROW_D, ROWS);
        wait_for_part();
        for (uint e = set * gl_SubgroupSize + gl_SubgroupInvocationID; e < MM * WN / 4; e += SETS * gl_SubgroupSize) {
            const uint r = e / (WN / 4), q = e % (WN / 4), at = part + r * ROW_D + q;
            acc4_t sum = FOUR_OF(tile[at]);
            [[unroll]] for (uint s = 1; s < SETS; ++s) sum += FOUR_OF(tile[at + s * SHARES * MM * ROW_D]);
            const uint row = row0 + sub_row + i * MM + r, col = col0 + sub_col + 4 * q;
            store_d4(row, col, FINAL(sum, row, col));
        }
        wait_for_part();
    }
}
