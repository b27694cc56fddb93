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
// type.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "gemm.glsl"
#include "chunk16.glsl"

const bool TALL = BM > BN;                                    // few columns: A is the large operand; else B is
const uint V = TALL ? BN : BM, OUT = TALL ? BM : BN;
const bool ALONG = TALL ? TRANS_A == 0 : TRANS_B != 0;        // is the large operand k-contiguous?
const bool MATES = TALL ? TRANS_B != 0 : TRANS_A == 0;        // and the small one?
const uint P = TALL ? PER_CHUNK(TYPE_A) : PER_CHUNK(TYPE_B);
const uint ACROSS = ALONG ? TEAM : OUT / P;                   // invocations side by side
const uint TEAMS = WG / ACROSS, R = ALONG ? OUT / TEAMS : P;  // outputs that an invocation works on at a time

shared acc_t parts[WG * R * V];
acc_t sums[R * V];

acc_t element(uvec4 chunk, uint i) {
    const uint word = chunk[i * a_bytes / 4] >> (8 * (i * a_bytes % 4));
    return UNPACK(TYPE_A, word);
}

// Sixteen bytes of an operand, zeros outside: the plan makes sure that none are half outside.
uvec4 wide_a(uint row, uint k) {
    const uvec4 chunk = CHUNK(a, index_a(row, k) / PER_CHUNK(TYPE_A));
    return row < args.m && k < k_end ? chunk : uvec4(0);
}
uvec4 wide_b(uint k, uint col) {
    const uvec4 chunk = CHUNK(b, index_b(k, col) / PER_CHUNK(TYPE_B));
    return k < k_end && col < args.n ? chunk : uvec4(0);
}
uvec4 large(uint o, uint k) { return TALL ? wide_a(o, k) : wide_b(k, o); }

// An element of the small operand; 0 past k_end, because the large one's zeros there must not meet an infinity. The
// last step takes more of K than there is, of whole tiles too, where load_a and load_b test no edge. k is one of the 16
// bytes from `first` on, all of which are on one side of k_end.
acc_t small(uint v, uint k, uint first) {
    const acc_t value = TALL ? load_b(k, v) : load_a(v, k);
    return WHOLE == 0 || first < k_end ? value : acc_t(0);
}

// Every invocation makes as many steps, the last ones perhaps for nothing.
void sum_along(uint o0, uint v0, uint team, uint lane) {
    uvec4 chunk[DEPTH * R];
    for (uint begin = k_begin; begin < k_end; begin += ACROSS * P * DEPTH) {
        const uint k0 = begin + lane * P;
        [[unroll]] for (uint u = 0; u < DEPTH; ++u)
            [[unroll]] for (uint r = 0; r < R; ++r) chunk[u * R + r] = large(o0 + team * R + r, k0 + u * ACROSS * P);
        [[unroll]] for (uint u = 0; u < DEPTH; ++u)
            [[unroll]] for (uint v = 0; v < V; ++v) {
                const uint k = k0 + u * ACROSS * P;
                uvec4 mate;
                if (MATES) mate = TALL ? wide_b(k, v0 + v) : wide_a(v0 + v, k);
                [[unroll]] for (uint i = 0; i < P; ++i) {
                    const acc_t s = MATES ? element(mate, i) : small(v0 + v, k + i, k);
                    [[unroll]] for (uint r = 0; r < R; ++r) sums[r * V + v] += element(chunk[u * R + r], i) * s;
                }
            }
    }
}
void sum_down(uint o0, uint v0, uint team, uint lane) {
    uvec4 chunk[DEPTH];
    for (uint begin = k_begin; begin < k_end; begin += TEAMS * DEPTH) {
        const uint k0 = begin + team;
        [[unroll]] for (uint u = 0; u < DEPTH; ++u) chunk[u] = large(o0 + lane * P, k0 + u * TEAMS);
        [[unroll]] for (uint u = 0; u < DEPTH; ++u)
            [[unroll]] for (uint v = 0; v < V; ++v) {
                const uint k = k0 + u * TEAMS;
                const acc_t s = small(v0 + v, k, k);
                [[unroll]] for (uint i = 0; i < P; ++i) sums[i * V + v] += element(chunk[u], i) * s;
            }
    }
}

void main() {
    uint row0, col0;
    if (!tile_of(row0, col0)) return;
    const uint tid = gl_LocalInvocationIndex, team = tid / ACROSS, lane = tid % ACROSS;
    const uint o0 = TALL ? row0 : col0, v0 = TALL ? col0 : row0;
    [[unroll]] for (uint i = 0; i < R * V; ++i) sums[i] = acc_t(0);
    if (k_end > k_begin) {  // lavapipe enters a loop once with no invocation left in it
        if (ALONG) sum_along(o0, v0, team, lane);
        else sum_down(o0, v0, team, lane);
    }
    [[unroll]] for (uint i = 0; i < R * V; ++i)
        parts[ALONG ? (team * R * V + i) * ACROSS + lane : (lane * R * V + i) * TEAMS + team] = sums[i];
    barrier();  // all parts are there
    const uint count = ALONG ? ACROSS : TEAMS;
    for (uint e = tid; e < OUT * V; e += WG) {
        acc_t sum = acc_t(0);
        for (uint i = 0; i < count; ++i) sum += parts[e * count + (i + e) % count];
        const uint o = o0 + e / V, v = v0 + e % V;
        store_d(TALL ? o : v, TALL ? v : o, sum);
    }
}
