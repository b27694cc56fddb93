// SPDX-License-Identifier: MIT
// uv -> the network's first activations. A work group serves 64 points; each invocation has one level of 4 of them.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "encoding.glsl"
layout(local_size_x = 16, local_size_y = 16) in;
layout(std430, binding = 0) readonly buffer Points { vec2 uv[]; };
layout(std430, binding = 1) readonly buffer Parameters { float parameter[]; };
layout(std430, binding = 2) writeonly buffer Activations { REAL2 x[]; };
layout(std430, binding = 3) readonly buffer Counted { Group group; };
layout(push_constant) uniform Push { uint rows, counted, table_log2, first_feature; };

void main() {
    const uint level = gl_LocalInvocationID.x, count = counted != 0u ? min(group.m, rows) : rows;
    for (uint r = 0; r < 4; ++r) {
        const uint i = gl_WorkGroupID.x * 64 + r * 16 + gl_LocalInvocationID.y;
        if (i >= count) return;
        const Corners c = corners_of(uv[i], level, table_log2);
        vec2 sum = vec2(0);
        for (uint n = 0; n < 4; ++n) {
            const uint at = first_feature + c.entry[n] * features;
            sum += c.weight[n] * vec2(parameter[at], parameter[at + 1]);
        }
        x[i * levels + level] = REAL2(sum);
    }
}
