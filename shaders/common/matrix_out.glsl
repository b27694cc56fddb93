// SPDX-License-Identifier: MIT
// How the sums of the matrix units become D. A shader includes this after it has defined sums[], the shared array tile
// with COOPMAT_D elements, NI, NJ, ROW_D, SHARES and SETS (the subgroups that share a part), set (which of them this
// subgroup is), row0, col0, sub_row and sub_col. It may define FINAL(sum, row, col), which is applied to four sums, the
// first of them at (row, col), before the epilogue.
#ifdef FINAL
#define HAS_FINAL
#else
#define FINAL(sum, row, col) sum
#endif

// Waits for the subgroups that share this part of D; a subgroup that shares its part with no other waits for itself
// only.
void wait_for_part() {
    if (SETS == 1) wait_for_subgroup();
    else barrier();
}

// Sums are read from shared memory four columns at a time. COLS columns of a row are written to D at a time: eight
// where 16 bytes of D may be written at a time, otherwise four.
#if defined(TYPE_D_IS_F16) || defined(TYPE_D_IS_BF16)
#define D_IN_HALVES
// Sums of 16 bits are too many: in 32 bits some would leave the registers.
#if !defined(HAS_FINAL) && !defined(ACC_IS_F16)
#define D_IN_PAIRS
#endif
#endif

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

// Which vector of COLS columns comes e-th: its row, and its place in the row. Eight neighbours read 16 bytes each of
// shared memory at a time, which is fastest from eight different banks. Where COLS columns are 32 bytes there, four of
// the eight take the next row, which is an odd number of 16 bytes away.
const uint ACROSS_D = WN / COLS;
uvec2 place_of(uint e) {
    return COLS == 4 || ACROSS_D % 4 != 0
               ? uvec2(e / ACROSS_D, e % ACROSS_D)
               : uvec2(e / (2 * ACROSS_D) * 2 + (e >> 2 & 1), (e >> 3) % (ACROSS_D / 4) * 4 + (e & 3));
}

// Writes D by way of shared memory, MM rows of each subgroup at a time, because whole rows are written faster than
// fragments. The subgroups that share a part add up their sums there, always in the same order; each takes every
// SETS-th vector of COLS columns. The sums of the next rows then move to the front, so that constants index them: a
// compiler that does not unroll a long loop over i would otherwise keep all sums in memory from the beginning.
void store_sums() {
    const uint mine = SUBGROUP * MM * ROW_D, part = SUBGROUP % SHARES * MM * ROW_D;
    [[unroll]] for (uint i = 0; i < NI; ++i) {
        [[unroll]] for (uint j = 0; j < NJ; ++j)
            coopMatStore(TO_FINISHING(sums[j]), tile, mine + j * MN / 4, ROW_D, ROWS);
        [[unroll]] for (uint j = NJ; j < NI * NJ; ++j) sums[j - NJ] = sums[j];
        wait_for_part();
        for (uint e = set * SG + LANE; e < MM * ACROSS_D; e += SETS * SG) {
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

#ifdef D_IN_PAIRS
// Where no step of the epilogue but a bias of the columns that comes first depends on the place in D, fragments are
// finished before they leave the registers. Two of them, from the upper and the lower half of the subgroup's rows, then
// leave as one: each of its elements holds two of 16 bits. That halves the traffic of shared memory.
#define BY_PLACE(step)                                                                                              \
    ((step == VKGEMM_STEP_BIAS_ROW ? 1 : 0) + (step == VKGEMM_STEP_BIAS_COL ? 1 : 0) +                              \
     (step == VKGEMM_STEP_SCALE_ROW ? 1 : 0) + (step == VKGEMM_STEP_SCALE_COL ? 1 : 0) +                            \
     (step == VKGEMM_STEP_CLAMP_ROW ? 1 : 0) + (step == VKGEMM_STEP_CLAMP_COL ? 1 : 0) + (READ_RESIDUAL >> step & 1))
const uint BIASED = STEP_0 == VKGEMM_STEP_BIAS_COL ? 1 : 0;
const uint BY_PLACES = BY_PLACE(STEP_0) - BIASED + BY_PLACE(STEP_1) + BY_PLACE(STEP_2) + BY_PLACE(STEP_3) + USE_C +
                       PARTIAL + (SCALARS & (SCALARS_MONITOR | SCALARS_LARGEST));
const uint NOT_IN_PAIRS = BY_PLACES + (COLS == 8 ? 0 : 1) + NI % 2 + (SETS == 1 ? 0 : 1);

acc_t finished_anywhere(acc_t sum, acc_t bias) {
    acc_t x = times_alpha(0, 0, sum);
    if (BIASED != 0) x += bias;
    else x = after_step(STEP_0, 0, 0, x, acc_t(0));
    x = after_step(STEP_1, 0, 0, x, acc_t(0));
    x = after_step(STEP_2, 0, 0, x, acc_t(0));
    return after_step(STEP_3, 0, 0, x, acc_t(0));
}

// The lower and the upper 16 bits of eight words.
uvec4 lower_halves(uvec4 x, uvec4 y) {
    return uvec4(x.xz, y.xz) & 0xffffu | uvec4(x.yw, y.yw) << 16;
}
uvec4 upper_halves(uvec4 x, uvec4 y) {
    return uvec4(x.xz, y.xz) >> 16 | uvec4(x.yw, y.yw) & 0xffff0000u;
}

void store_pairs() {
    const uint mine = SUBGROUP * MM * ROW_D;
    FINISHING bias[NJ];
    read_scalars();
    if (BIASED != 0) {  // a row of them, which counts as all rows
        for (uint e = LANE; e < WN / 4; e += SG) {
            uvec4 four;
            [[unroll]] for (uint j = 0; j < 4; ++j)
                four[j] = floatBitsToUint(bias_at(nearest(col0 + sub_col + 4 * e + j, args.n)));
            tile[mine + e] = four;
        }
        wait_for_part();
        [[unroll]] for (uint j = 0; j < NJ; ++j) coopMatLoad(bias[j], tile, mine + j * MN / 4, 0, ROWS);
        wait_for_part();
    }
    [[unroll]] for (uint i = 0; i < NI; ++i)
        [[unroll]] for (uint j = 0; j < NJ; ++j) {
            FINISHING x = TO_FINISHING(sums[i * NJ + j]);
            [[unroll]] for (uint e = 0; e < x.length(); ++e) x[e] = finished_anywhere(x[e], bias[j][e]);
            sums[i * NJ + j] = TO_SUMS(x);
        }
    [[unroll]] for (uint i = 0; i < NI / 2; ++i) {
        [[unroll]] for (uint j = 0; j < NJ; ++j) {
            FINISHING x = TO_FINISHING(sums[i * NJ + j]);
            const FINISHING y = TO_FINISHING(sums[(i + NI / 2) * NJ + j]);
            [[unroll]] for (uint e = 0; e < x.length(); ++e) x[e] = uintBitsToFloat(HALVES(x[e], y[e]));
            coopMatStore(x, tile, mine + j * MN / 4, ROW_D, ROWS);
        }
        wait_for_part();
        for (uint e = LANE; e < MM * ACROSS_D; e += SG) {
            const uvec2 place = place_of(e);
            const uint at = mine + place.x * ROW_D + 2 * place.y, col = col0 + sub_col + COLS * place.y;
            const uvec4 x = tile[at], y = tile[at + 1];
            const uint row = row0 + sub_row + i * MM + place.x, below = row + WM / 2;
            if (is_in_d(row, col)) EIGHT_OF_D(index_d(ROW_OF_D(row), col)) = lower_halves(x, y);
            if (is_in_d(below, col)) EIGHT_OF_D(index_d(ROW_OF_D(below), col)) = upper_halves(x, y);
        }
        wait_for_part();
    }
}
void store() {
    if (NOT_IN_PAIRS == 0) store_pairs();
    else store_sums();
}
#else
void store() { store_sums(); }
#endif
