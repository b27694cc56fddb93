// SPDX-License-Identifier: MIT
// The same as peak.comp on the matrix units: products of MM x MN x MK of FACTORs, added up in SUM.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#extension GL_EXT_bfloat16 : require
#pragma use_vulkan_memory_model
#include "peak.h"

layout(constant_id = PEAK_MM) const uint MM = 1;
layout(constant_id = PEAK_MN) const uint MN = 1;
layout(constant_id = PEAK_MK) const uint MK = 1;
layout(local_size_x_id = PEAK_WG) in;
layout(push_constant, std430) uniform Push { PeakArgs args; };
layout(std430, set = 0, binding = PEAK_TO) buffer Never { uint never[]; };

// Elements that differ, and that the compiler cannot know: equal products it would compute once. -7, -5, ... 7.
int some(uint e) { return 2 * int(gl_LocalInvocationIndex * 5 + e * 3 + args.factor & 7u) - 7; }

void main() {
    coopmat<FACTOR, gl_ScopeSubgroup, MM, MK, gl_MatrixUseA> a;
    coopmat<FACTOR, gl_ScopeSubgroup, MK, MN, gl_MatrixUseB> b, back;  // -b takes back what b added: sums stay finite
    [[unroll]] for (uint e = 0; e < a.length(); ++e) a[e] = FACTOR(some(e));
    [[unroll]] for (uint e = 0; e < b.length(); ++e) {
        b[e] = FACTOR(some(e + 1));
        back[e] = FACTOR(-some(e + 1));
    }
    coopmat<SUM, gl_ScopeSubgroup, MM, MN, gl_MatrixUseAccumulator> sums[PEAK_CHAINS];
    [[unroll]] for (uint i = 0; i < PEAK_CHAINS; ++i)
        [[unroll]] for (uint e = 0; e < sums[i].length(); ++e) sums[i][e] = SUM(some(i + e));
    for (uint k = 0; k < args.trips; ++k)
        [[unroll]] for (uint round = 0; round < PEAK_ROUNDS; round += 2) {
            [[unroll]] for (uint i = 0; i < PEAK_CHAINS; ++i) sums[i] = coopMatMulAdd(a, b, sums[i]);
            [[unroll]] for (uint i = 0; i < PEAK_CHAINS; ++i) sums[i] = coopMatMulAdd(a, back, sums[i]);
        }
    SUM sum = SUM(0);  // of all elements: a product of which none is wanted is left out, too
    [[unroll]] for (uint i = 0; i < PEAK_CHAINS; ++i)
        [[unroll]] for (uint e = 0; e < sums[i].length(); ++e) sum += sums[i][e];
    if (sum == SUM(12345)) never[0] = 1;
}
