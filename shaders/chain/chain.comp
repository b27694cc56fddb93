// SPDX-License-Identifier: MIT
// Several layers of a network in one dispatch, on the matrix units. The weights wait in shared memory. A subgroup takes
// WM rows through all layers; between two layers they stay in its registers, or pass through its own part of shared
// memory where a sum cannot become an operand (VARIANT_CONVERTED: where it can).
//
//       A, from memory        B of layer 0     B of layer 1            D
//       +--- 16 ---+---+     +-----+-----+    +-----+-----+           +---+
//    WM |          |   | --> |     |     | -> |     |     | --> ... ->|   |  the last D, and those that are kept, leave
//       +----------+---+     |     |     |    |     |     |           +---+  16 rows at a time through shared memory
//                            +-----+-----+    +-----+-----+
#extension GL_GOOGLE_include_directive : require
#define VKGEMM_MATRIX_UNITS
#include "chain/chain.glsl"
#ifdef VARIANT_CONVERTED
#extension GL_NV_cooperative_matrix2 : require
#endif

#define UNIT float16_t
#define A_MATRIX coopmat<UNIT, gl_ScopeSubgroup, MM, MK, gl_MatrixUseA>
#define B_MATRIX coopmat<UNIT, gl_ScopeSubgroup, MK, MM, gl_MatrixUseB>
#define SUMS coopmat<float, gl_ScopeSubgroup, MM, MM, gl_MatrixUseAccumulator>
#define RESULT coopmat<UNIT, gl_ScopeSubgroup, MM, MM, gl_MatrixUseAccumulator>
#define ROWS gl_CooperativeMatrixLayoutRowMajor
#define COLUMNS gl_CooperativeMatrixLayoutColumnMajor

// Widths are padded to whole matrices. Rows in shared memory are a chunk of eight elements longer.
#define PADDED(width) (((width) + MM - 1) / MM * MM)
const uint FRAGMENTS = MAX_WIDTH / MM, NI = WM / MM, SUBGROUPS = WG / SG;
// Rows pass through a subgroup's part of shared memory, MM at a time.
const uint STAGE_ROW = MAX_WIDTH / 8 + 1;
// The rows that come next wait in registers.
const uint ACROSS_A = PADDED(INPUTS) / 8, LOADS = (MM * ACROSS_A + SG - 1) / SG;
const uint BIASES = WEIGHT_CHUNKS;                      // f32, MAX_WIDTH of each layer
const uint MASKS = BIASES + LAYERS * (MAX_WIDTH / 4);  // f32, MM of each layer: 1 where its last columns exist
const uint STAGING = MASKS + LAYERS * (MM / 4);    // of each subgroup
shared uvec4 tile[STAGING + SUBGROUPS * (MM * STAGE_ROW)];

// Waits until what the subgroup wrote to shared memory is there.
void wait_for_subgroup() {
    controlBarrier(gl_ScopeSubgroup, gl_ScopeSubgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
}

A_MATRIX part_a[NI * FRAGMENTS];
SUMS sums[NI * FRAGMENTS];
uvec4 next_rows[NI * LOADS];
uint stage;

#include "chain/chain_rows.glsl"

// Sums begin with the bias, unless alpha comes between them.
void multiply(const Layer l) {
    const bool by_columns = (l.flags & CHAIN_TRANS_B) != 0;
    const uint nk = PADDED(l.k) / MK, nj = PADDED(l.n) / MM, row = (by_columns ? nk : nj) * (MM / 8) + 1;
    const bool is_plain = alpha_of(l.number) == 1;
    [[unroll]] for (uint j = 0; j < nj; ++j) {
        SUMS first = SUMS(0);
        if ((l.flags & CHAIN_BIAS) != 0 && is_plain)
            coopMatLoad(first, tile, BIASES + (l.number * MAX_WIDTH + j * MM) / 4, 0, ROWS);
        [[unroll]] for (uint i = 0; i < NI; ++i) sums[i * FRAGMENTS + j] = first;
    }
    [[unroll]] for (uint k = 0; k < nk; ++k)
        [[unroll]] for (uint j = 0; j < nj; ++j) {
            B_MATRIX part_b;
            if (by_columns) coopMatLoad(part_b, tile, l.b_chunk + j * MM * row + k * (MK / 8), row, COLUMNS);
            else coopMatLoad(part_b, tile, l.b_chunk + k * MK * row + j * (MM / 8), row, ROWS);
            [[unroll]] for (uint i = 0; i < NI; ++i)
                sums[i * FRAGMENTS + j] = coopMatMulAdd(part_a[i * FRAGMENTS + k], part_b, sums[i * FRAGMENTS + j]);
        }
    if (is_plain) return;
    const float alpha = alpha_of(l.number);
    [[unroll]] for (uint j = 0; j < nj; ++j) {
        SUMS bias = SUMS(0);
        if ((l.flags & CHAIN_BIAS) != 0) coopMatLoad(bias, tile, BIASES + (l.number * MAX_WIDTH + j * MM) / 4, 0, ROWS);
        [[unroll]] for (uint i = 0; i < NI; ++i)
            [[unroll]] for (uint e = 0; e < bias.length(); ++e) {
                const float x = sums[i * FRAGMENTS + j][e];
                sums[i * FRAGMENTS + j][e] = alpha == 0 ? bias[e] : alpha * x + bias[e];
            }
    }
}

// A part of the results of a layer: after its step, as elements of D. ReLU follows the rounding, which does not change
// what it makes of a number. Columns beyond the last are 0, because an infinity times the zeros of B is NaN there.
RESULT finished(const Layer l, uint i, uint j) {
    SUMS x = sums[i * FRAGMENTS + j];
    const bool is_relu = (l.flags & CHAIN_STEP) == VKGEMM_STEP_RELU;
    if (!is_relu && (l.flags & CHAIN_STEP) != VKGEMM_STEP_NONE)
        [[unroll]] for (uint e = 0; e < x.length(); ++e) x[e] = activated(l, x[e]);
    RESULT y = RESULT(x);
    if (is_relu)
        [[unroll]] for (uint e = 0; e < y.length(); ++e) y[e] = y[e] <= UNIT(0) ? UNIT(0) : y[e];
    if (l.number + 1 != LAYERS && l.n % MM != 0 && j == l.n / MM) {
        SUMS mask;
        coopMatLoad(mask, tile, MASKS + l.number * (MM / 4), 0, ROWS);
        [[unroll]] for (uint e = 0; e < y.length(); ++e) y[e] = mask[e] != 0 ? y[e] : UNIT(0);
    }
    return y;
}

// The results of a layer become the A of the next one. What is stored leaves through the subgroup's part of shared
// memory.
void finish(const Layer l, uint row0) {
    const uint nj = PADDED(l.n) / MM;
    const bool is_last = l.number + 1 == LAYERS, is_stored = (l.flags & CHAIN_STORED) != 0;
#ifdef VARIANT_CONVERTED
    const bool is_staged = is_stored;
#else
    const bool is_staged = true;
#endif
    [[unroll]] for (uint i = 0; i < NI; ++i) {
        [[unroll]] for (uint j = 0; j < nj; ++j) {
            const RESULT y = finished(l, i, j);
            if (is_staged) coopMatStore(y, tile, stage + j * (MM / 8), STAGE_ROW, ROWS);
#ifdef VARIANT_CONVERTED
            if (!is_last) part_a[i * FRAGMENTS + j] = A_MATRIX(y);
#endif
        }
        if (is_staged) {
            wait_for_subgroup();
            if (is_stored) store_rows(l, row0 + i * MM);
#ifndef VARIANT_CONVERTED
            if (!is_last)
                [[unroll]] for (uint j = 0; j < nj; ++j)
                    coopMatLoad(part_a[i * FRAGMENTS + j], tile, stage + j * (MM / 8), STAGE_ROW, ROWS);
#endif
            wait_for_subgroup();
        }
    }
}

void compute(const Layer l, uint row0) {
    if (RESIDENT == 0) {
        barrier();  // no subgroup reads the weights of the layer before
        load_weights(l);
        barrier();
    }
    multiply(l);
    finish(l, row0);
}

void main() {
    stage = STAGING + gl_SubgroupID * (MM * STAGE_ROW);
    const uint turn = SUBGROUPS * WM;
    prefetch_rows(gl_WorkGroupID.x * turn + gl_SubgroupID * WM);
    EACH_LAYER(load_bias);
    if (RESIDENT != 0) {
        EACH_LAYER(load_weights);
    }
    barrier();
    for (uint first = gl_WorkGroupID.x * turn; first < ROWS_OF_A; first += gl_NumWorkGroups.x * turn) {
        const uint row0 = first + gl_SubgroupID * WM;
        rows_to_operand();
        prefetch_rows(row0 + gl_NumWorkGroups.x * turn);
#define COMPUTE(layer) compute(layer, row0)
        EACH_LAYER(COMPUTE);
    }
}
