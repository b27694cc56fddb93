// SPDX-License-Identifier: MIT
// The same as peak.comp on the matrix units: products of MM x MN x MK, args.k trips a subgroup.
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

void main() {
    const A_MATRIX a = A_MATRIX(A_UNIT(gl_SubgroupID & 1));
    const B_MATRIX b = B_MATRIX(B_UNIT(args.m));  // 0: a number that the compiler does not know
    SUMS sums[PEAK_CHAINS];
    [[unroll]] for (uint i = 0; i < PEAK_CHAINS; ++i) sums[i] = SUMS(SUM(i));
    for (uint k = 0; k < args.k; ++k)
        [[unroll]] for (uint round = 0; round < PEAK_ROUNDS; ++round)
            [[unroll]] for (uint i = 0; i < PEAK_CHAINS; ++i) sums[i] = coopMatMulAdd(a, b, sums[i]);
    SUM sum = SUM(0);
    [[unroll]] for (uint i = 0; i < PEAK_CHAINS; ++i) sum += sums[i][0];
    if (sum == SUM(12345)) never[0] = 1;
}
