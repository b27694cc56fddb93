// SPDX-License-Identifier: MIT
// The same as peak.comp on the matrix units: products of MM x MN x MK, args.k trips a subgroup.
#version 460
#extension GL_GOOGLE_include_directive : require
#define VKGEMM_MATRIX_UNITS
#include "extensions.glsl"
#include "abi.h"
#include "peak.h"
#include "types.glsl"
#include "matrix.glsl"

#define X(id, name, meaning) layout(constant_id = id) const uint name = 1;
VKGEMM_TILE_CONSTANTS(X)
#undef X
layout(local_size_x_id = 0) in;  // WG
layout(push_constant, std430) uniform Push { GemmArgs args; };
layout(std430, set = 0, binding = BIND_D) buffer Never { uint never[]; };

// Elements that differ, and that the compiler cannot know: equal products it would compute once. -7, -5, ... 7.
int some(uint e) { return 2 * int(gl_LocalInvocationIndex * 5 + e * 3 + args.m & 7u) - 7; }

void main() {
    A_MATRIX a;
    B_MATRIX b, back;  // -b takes back what b added: sums of floating point stay finite
    [[unroll]] for (uint e = 0; e < a.length(); ++e) a[e] = A_UNIT(some(e));
    [[unroll]] for (uint e = 0; e < b.length(); ++e) b[e] = B_UNIT(some(e + 1)), back[e] = B_UNIT(-some(e + 1));
    SUMS sums[PEAK_CHAINS];
    [[unroll]] for (uint i = 0; i < PEAK_CHAINS; ++i)
        [[unroll]] for (uint e = 0; e < sums[i].length(); ++e) sums[i][e] = SUM(some(i + e));
    for (uint k = 0; k < args.k; ++k)
        [[unroll]] for (uint round = 0; round < PEAK_ROUNDS; round += 2) {
            [[unroll]] for (uint i = 0; i < PEAK_CHAINS; ++i) sums[i] = coopMatMulAdd(a, b, sums[i]);
            [[unroll]] for (uint i = 0; i < PEAK_CHAINS; ++i) sums[i] = coopMatMulAdd(a, back, sums[i]);
        }
    SUM sum = SUM(0);  // of all elements: a product of which none is wanted is left out, too
    [[unroll]] for (uint i = 0; i < PEAK_CHAINS; ++i)
        [[unroll]] for (uint e = 0; e < sums[i].length(); ++e) sum += sums[i][e];
    if (sum == SUM(12345)) never[0] = 1;
}
