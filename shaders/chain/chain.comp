// SPDX-License-Identifier: MIT
// Several layers of a network in one dispatch, on the matrix units. The weights wait in shared memory. A subgroup takes
// WM rows through all layers; between two layers they stay in its registers, or pass through its own part of shared
// memory where a sum cannot become an operand (VARIANT_CONVERTED: where it can).
//
//       A, from memory        B of layer 0     B of layer 1            D
//       +--- 16 ---+---+     +-----+-----+    +-----+-----+           +---+
//    WM |          |   | --> |     |     | -> |     |     | --> ... ->|   |  the last D, and those that are kept, leave
//       +----------+---+     |     |     |    |     |     |           +---+  16 x 16 at a time through shared memory
//                            +-----+-----+    +-----+-----+
#extension GL_GOOGLE_include_directive : require
#define VKGEMM_MATRIX_UNITS
#include "chain/chain.glsl"
#ifdef VARIANT_CONVERTED
#extension GL_NV_cooperative_matrix2 : require
#endif

#include "common/matrix.glsl"
#define RESULT coopmat<A_UNIT, gl_ScopeSubgroup, MM, MN, gl_MatrixUseAccumulator>

// Widths are padded to whole matrices. Rows of weights in shared memory are a chunk of eight elements longer.
#define PADDED(width) (((width) + MM - 1) / MM * MM)
const uint FRAGMENTS = MAX_WIDTH / MM, NI = WM / MM, SUBGROUPS = WG / SG;
// One matrix at a time passes through a subgroup's part of shared memory.
const uint ACROSS = MM / 8, CHUNKS = MM * ACROSS, STAGE_ROW = ACROSS + 1, STAGE = MM * STAGE_ROW;
const uint CHUNKS_EACH = (CHUNKS + SG - 1) / SG;  // that an invocation moves
const uint BIASES = WEIGHT_CHUNKS;                     // f32, MAX_WIDTH of each layer
const uint NO_BIAS = BIASES + LAYERS * (MAX_WIDTH / 4);  // f32, MM zeros
const uint MASKS = NO_BIAS + MM / 4;                   // f32, MM of each layer: 1 where its last columns exist
const uint STAGING = MASKS + LAYERS * (MM / 4);         // of each subgroup
shared uvec4 tile[STAGING + SUBGROUPS * STAGE];

A_MATRIX a[NI * FRAGMENTS];
SUMS sums[NI * FRAGMENTS];
uvec4 next_rows[NI * FRAGMENTS * CHUNKS_EACH];  // which are on their way from memory
uvec4 residuals[NI * FRAGMENTS * CHUNKS_EACH];  // likewise, of the layer
uint stage;

#include "chain/chain_rows.glsl"

// Sums begin with the bias, unless alpha comes between them. There is no branch before the products, because NVIDIA's
// compiler orders instructions between branches only.
void multiply(const Layer l) {
    const bool by_columns = (l.flags & CHAIN_TRANS_B) != 0, has_bias = (l.flags & CHAIN_BIAS) != 0;
    const uint nk = PADDED(l.k) / MK, nj = PADDED(l.n) / MM, row = (by_columns ? nk : nj) * (MM / 8) + 1;
    const float alpha = alpha_of(l.number);
    const uint biases = BIASES + l.number * (MAX_WIDTH / 4);
    [[unroll]] for (uint j = 0; j < nj; ++j) {
        SUMS first = SUMS(0);
        if (has_bias) coopMatLoad(first, tile, alpha == 1 ? biases + j * (MM / 4) : NO_BIAS, 0, ROWS);
        [[unroll]] for (uint i = 0; i < NI; ++i) sums[i * FRAGMENTS + j] = first;
    }
    [[unroll]] for (uint k = 0; k < nk; ++k)
        [[unroll]] for (uint j = 0; j < nj; ++j) {
            B_MATRIX b;
            if (by_columns) coopMatLoad(b, tile, l.b_chunk + j * MM * row + k * (MK / 8), row, COLUMNS);
            else coopMatLoad(b, tile, l.b_chunk + k * MK * row + j * (MM / 8), row, ROWS);
            [[unroll]] for (uint i = 0; i < NI; ++i)
                sums[i * FRAGMENTS + j] = coopMatMulAdd(a[i * FRAGMENTS + k], b, sums[i * FRAGMENTS + j]);
        }
    if (alpha == 1) return;
    [[unroll]] for (uint j = 0; j < nj; ++j) {
        SUMS bias = SUMS(0);
        if (has_bias) coopMatLoad(bias, tile, biases + j * (MM / 4), 0, ROWS);
        [[unroll]] for (uint i = 0; i < NI; ++i)
            [[unroll]] for (uint e = 0; e < bias.length(); ++e) {
                const float x = sums[i * FRAGMENTS + j][e];
                sums[i * FRAGMENTS + j][e] = alpha == 0 ? bias[e] : alpha * x + bias[e];
            }
    }
}

#ifdef TYPE_A_IS_BF16
// NVIDIA's conversions to bf16 cut off digits, so it is rounded here. A ReLU or clamp makes no NaN of another number,
// and tests for one itself.
bfloat16_t element_of(const Layer l, float before, float x) {
    const uint step = l.flags & CHAIN_STEP, bits = floatBitsToUint(x);
    const bool is_nan = isnan(step == VKGEMM_STEP_RELU || step == VKGEMM_STEP_CLAMP ? before : x);
    return uintBitsToBFloat16EXT(uint16_t(is_nan ? 0x7fc0 : bits + 0x7fff + (bits >> 16 & 1) >> 16));
}
#endif

// A part of the results of a layer: after its step, as elements of D. Columns beyond the last are 0, because an
// infinity times the zeros of B is NaN there.
RESULT finished(const Layer l, uint i, uint j) {
    SUMS x = sums[i * FRAGMENTS + j], y = x;
    if (has_residual(l)) {
        RESULT residual;
        stage_residual(i, j);
        if ((l.flags & CHAIN_TRANS_D) != 0) coopMatLoad(residual, tile, stage, STAGE_ROW, COLUMNS);
        else coopMatLoad(residual, tile, stage, STAGE_ROW, ROWS);
        wait_for_subgroup();
        [[unroll]] for (uint e = 0; e < x.length(); ++e) y[e] = float(residual[e]) <= 0 ? 0 : x[e];
    } else if ((l.flags & CHAIN_STEP) != VKGEMM_STEP_NONE)
        [[unroll]] for (uint e = 0; e < x.length(); ++e) y[e] = activated(l, x[e]);
    if (l.number + 1 != LAYERS && l.n % MM != 0 && j == l.n / MM) {
        SUMS mask;
        coopMatLoad(mask, tile, MASKS + l.number * (MM / 4), 0, ROWS);
        [[unroll]] for (uint e = 0; e < x.length(); ++e) {
            y[e] = mask[e] != 0 ? y[e] : 0;
            x[e] = mask[e] != 0 ? x[e] : 0;
        }
    }
#ifdef TYPE_A_IS_BF16
    RESULT rounded;
    [[unroll]] for (uint e = 0; e < x.length(); ++e) rounded[e] = element_of(l, x[e], y[e]);
    return rounded;
#else
    return RESULT(y);
#endif
}

// The results of a layer become the A of the next one. What is stored leaves through the subgroup's part of shared
// memory.
void finish(const Layer l, uint row0) {
    const uint nj = PADDED(l.n) / MM;
    const bool is_last = l.number + 1 == LAYERS, is_stored = (l.flags & CHAIN_STORED) != 0;
    const bool by_columns = (l.flags & CHAIN_TRANS_D) != 0;
#ifdef VARIANT_CONVERTED
    const bool is_staged = is_stored;
#else
    const bool is_staged = true;
#endif
    [[unroll]] for (uint i = 0; i < NI; ++i)
        [[unroll]] for (uint j = 0; j < nj; ++j) {
            const RESULT y = finished(l, i, j);
            if (is_staged) {
                if (by_columns) coopMatStore(y, tile, stage, STAGE_ROW, COLUMNS);
                else coopMatStore(y, tile, stage, STAGE_ROW, ROWS);
                wait_for_subgroup();
                if (is_stored) store_staged(l, row0 + i * MM, j * MM);
            }
#ifdef VARIANT_CONVERTED
            if (!is_last) a[i * FRAGMENTS + j] = A_MATRIX(y);
#else
            if (!is_last && by_columns) coopMatLoad(a[i * FRAGMENTS + j], tile, stage, STAGE_ROW, COLUMNS);
            else if (!is_last) coopMatLoad(a[i * FRAGMENTS + j], tile, stage, STAGE_ROW, ROWS);
#endif
            if (is_staged) wait_for_subgroup();
        }
}

void compute(const Layer l, uint row0) {
    if (RESIDENT == 0) {
        barrier();  // no subgroup reads the weights of the layer before
        load_weights(l, 0);
        barrier();
    }
    if (has_residual(l)) prefetch_residual(l, row0);
    multiply(l);
    finish(l, row0);
}

// Blocks of WM rows go to the subgroups in turn, first one to each work group. All subgroups of a work group walk
// equally often, because they may wait for each other.
void main() {
    stage = STAGING + gl_SubgroupID * STAGE;
    count_rows();
    const uint blocks = (ROWS_OF_A + WM - 1) / WM, groups = gl_NumWorkGroups.x;
    if (COUNTED != 0 && gl_WorkGroupID.x >= blocks) return;
    const uint mine = gl_SubgroupID * groups + gl_WorkGroupID.x, turn = SUBGROUPS * groups;
    prefetch_rows(mine * WM);
    EACH_LAYER(ask_for_weights);
    EACH_LAYER(put_weights);
    barrier();
    for (uint first = gl_WorkGroupID.x; first < blocks; first += turn) {
        const uint row0 = (first + gl_SubgroupID * groups) * WM;
        rows_to_operand();
        prefetch_rows(row0 + turn * WM);
#define COMPUTE(layer) compute(layer, row0)
        EACH_LAYER(COMPUTE);
    }
}
