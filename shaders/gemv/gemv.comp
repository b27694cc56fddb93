// SPDX-License-Identifier: MIT
// Few rows or few columns: D is BM x BN per work group, the smaller of the two 1 to 16 and all of that side, so that
// the large operand is read once, 16 bytes at a time, and everything is bound by that. It grows from `reduce_k`:
// invocations share a sum, and their parts of it meet in shared memory, always in the same order.
//
//     the large operand k-contiguous: a team of             not k-contiguous: an invocation keeps the
//     TEAM invocations runs along k                         outputs of its 16 bytes, teams run down k
//
//             k ->                                                  outputs ->
//           +----+----+----+----+----+                            +----+----+----+----+
//     out-  | 0  | 1  | 2  | 3  | 0  |  team 0              k     | 0  | 1  | 2  | 3  |  team 0
//     puts  +----+----+----+----+----+                      |     +----+----+----+----+
//           | 0  | 1  | 2  | 3  | 0  |  team 1              v     | 0  | 1  | 2  | 3  |  team 1
//           +----+----+----+----+----+                            +----+----+----+----+
//            16 bytes an invocation                                16 bytes an invocation
//
// "Out" is the long side of D, "vectors" the short one. DEPTH loads are in flight at a time. A and B have the same
// type. All steps but the last are whole and test nothing; only the last may reach past k_end.
#extension GL_GOOGLE_include_directive : require
#define VKGEMM_SELECTS
#define VKGEMM_PAIRS
#include "common/gemm.glsl"
#include "common/parts.glsl"
#include "common/chunk16.glsl"

const bool TALL = BM > BN;                                    // few columns: A is the large operand; else B is
const uint V = TALL ? BN : BM, OUT = TALL ? BM : BN;
const bool ALONG = TALL ? TRANS_A == 0 : TRANS_B != 0;        // is the large operand k-contiguous?
const bool MATES = TALL ? TRANS_B != 0 : TRANS_A == 0;        // and the small one?
const uint P = TALL ? PER_CHUNK(TYPE_A) : PER_CHUNK(TYPE_B);
const uint ACROSS = ALONG ? TEAM : OUT / P;                   // invocations side by side
const uint TEAMS = WG / ACROSS, R = ALONG ? OUT / TEAMS : P;  // outputs that an invocation works on at a time

shared acc_t parts[WG * R * V];
acc_t sums[R * V];
const uint FINISHED = (OUT * V + WG - 1) / WG;  // elements of D that an invocation finishes
acc_t gates[FINISHED];

// Element i of a chunk. An element of 16 bits is the low or the high half of a word, one of 64 bits is two words.
acc_t element(uvec4 chunk, uint i) {
    const uint word = chunk[i * a_bytes / 4];
    if (i * a_bytes % 4 != 0) return UNPACK_HIGH(TYPE_A, word);
    return UNPACK(TYPE_A, word, chunk[min(i * a_bytes / 4 + 1, 3)]);
}

// A chunk of the large operand, a chunk of the small one, and an element of the small one. Past the operand's last row
// or column, that one is read instead, and not replaced by 0: its products reach only sums that are not stored.
uvec4 large(uint o, uint k) {
    const uint row = nearest(o, TALL ? args.m : args.n), r = TALL ? ROW_OF_A(row) : row, q = nearest_k(k);
    const uint first = batch * (TALL ? args.batch_a : args.batch_b), stride = (TALL ? args.lda : args.ldb) / P;
    const uint at = ALONG ? first / P + r * stride + q / P : first / P + r / P + q * stride;
    return TALL ? CHUNK(a, at) : OF_B(CHUNK_FROM, at);
}
uvec4 mates(uint v, uint k) {
    return TALL ? OF_B(CHUNK_FROM, index_b(k, v) / PER_CHUNK(TYPE_B)) : CHUNK(a, index_a(v, k) / PER_CHUNK(TYPE_A));
}
acc_t small(uint v, uint k) {
    return TALL ? B_AT(index_b(k, v)) : LOAD(TYPE_A, ONE(a, index_a(v, k)));
}

// What was loaded from k on, or 0 if k is past k_end, which happens in the last step only. Both operands must be 0
// there, because 0 times infinity is NaN. A chunk is half outside only if it was packed, and then ends with zeros.
uvec4 counted(uvec4 chunk, uint k, bool last) { return last ? mix(uvec4(0), chunk, bvec4(k < k_end)) : chunk; }
acc_t counted(acc_t value, uint k, bool last) { return last && k >= k_end ? acc_t(0) : value; }

// One step along k: the team's chunks side by side, DEPTH times.
void step_along(uint o0, uint v0, uint team, uint k0, bool last) {
    uvec4 chunk[DEPTH * R];
    [[unroll]] for (uint u = 0; u < DEPTH; ++u)
        [[unroll]] for (uint r = 0; r < R; ++r) chunk[u * R + r] = large(o0 + team * R + r, k0 + u * ACROSS * P);
    [[unroll]] for (uint u = 0; u < DEPTH; ++u) {
        const uint k = k0 + u * ACROSS * P;
        [[unroll]] for (uint r = 0; r < R; ++r) chunk[u * R + r] = counted(chunk[u * R + r], k, last);
        [[unroll]] for (uint v = 0; v < V; ++v) {
            uvec4 mate;
            if (MATES) mate = counted(mates(v0 + v, k), k, last);
            [[unroll]] for (uint i = 0; i < P; ++i) {
                const acc_t s = MATES ? element(mate, i) : counted(small(v0 + v, k + i), k + i, last);
                [[unroll]] for (uint r = 0; r < R; ++r) sums[r * V + v] += element(chunk[u * R + r], i) * s;
            }
        }
    }
}

// One step down k: the teams' rows side by side, DEPTH times. All loads come first: the compiler would keep the index
// of each one for a second load, which costs registers.
void step_down(uint o, uint v0, uint k0, bool last) {
    uvec4 chunk[DEPTH];
    acc_t value[DEPTH * V];
    [[unroll]] for (uint u = 0; u < DEPTH; ++u) {
        const uint k = k0 + u * TEAMS;
        [[unroll]] for (uint v = 0; v < V; ++v) value[u * V + v] = small(v0 + v, k);
        chunk[u] = large(o, k);
    }
    [[unroll]] for (uint u = 0; u < DEPTH; ++u) {
        const uint k = k0 + u * TEAMS;
        const uvec4 mine = counted(chunk[u], k, last);
        [[unroll]] for (uint v = 0; v < V; ++v) {
            const acc_t s = counted(value[u * V + v], k, last);
            [[unroll]] for (uint i = 0; i < P; ++i) sums[i * V + v] += element(mine, i) * s;
        }
    }
}

void sum_up(uint o0, uint v0, uint team, uint lane) {
    [[unroll]] for (uint i = 0; i < R * V; ++i) sums[i] = acc_t(0);
    const uint step = (ALONG ? ACROSS * P : TEAMS) * DEPTH;
    const uint span = k_end > k_begin ? k_end - k_begin : 0;
    const uint rest = span % step, whole_end = k_begin + span - rest;
    if (whole_end > k_begin) {  // lavapipe runs a loop's body once more with no invocation left in it
        for (uint k = k_begin; k < whole_end; k += step) {
            if (ALONG) step_along(o0, v0, team, k + lane * P, false);
            else step_down(o0 + lane * P, v0, k + team, false);
        }
    }
    if (rest != 0) {
        if (ALONG) step_along(o0, v0, team, whole_end + lane * P, true);
        else step_down(o0 + lane * P, v0, whole_end + team, true);
    }
}

const uint PARTS = ALONG ? ACROSS : TEAMS;  // of a sum

void finish(uint o0, uint v0) {
    const uint tid = gl_LocalInvocationIndex, team = tid / ACROSS, lane = tid % ACROSS;
    sum_up(o0, v0, team, lane);
    [[unroll]] for (uint i = 0; i < R * V; ++i)
        parts[place_of_part((ALONG ? team : lane) * R * V + i, ALONG ? lane : team, PARTS)] = sums[i];
    barrier();  // all parts are written
    [[unroll]] for (uint n = 0; n < FINISHED; ++n) {
        const uint e = n * WG + tid;
        if (e >= OUT * V) continue;
        acc_t sum = acc_t(0);
        for (uint i = 0; i < PARTS; ++i) sum += parts[place_of_part(e, i, PARTS)];
        const uint o = o0 + e / V, v = v0 + e % V;
        if (PAIR != 0) gate_sum = gates[n];
        if (is_gate) gates[n] = sum;
        else store_d(TALL ? o : v, TALL ? v : o, sum);
    }
}

void main() {
    uint row0, col0;
    if (!tile_of(row0, col0)) return;
    const uint o0 = TALL ? row0 : col0, v0 = TALL ? col0 : row0;
    SUM_UP_GATE(finish(o0, v0); barrier();)  // every invocation has read the parts
    finish(o0, v0);
}
