// SPDX-License-Identifier: MIT
// The encoding backwards: adds the gradient of each activation to the features that it came from. Sums of atomics are
// in fixed point, so that they do not depend on the order.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "encoding.glsl"
layout(local_size_x = 16, local_size_y = 16) in;
layout(std430, binding = 0) readonly buffer Points { vec2 uv[]; };
layout(std430, binding = 1) readonly buffer Gradients { REAL2 dx[]; };
layout(std430, binding = 2) buffer Sums { int sum[]; };  // of biases and features
layout(push_constant) uniform Push { uint rows, table_log2, first_feature; float fixed_point; };

void main() {
    const uint level = gl_LocalInvocationID.x;
    for (uint r = 0; r < 4; ++r) {
        const uint i = gl_WorkGroupID.x * 64 + r * 16 + gl_LocalInvocationID.y;
        if (i >= rows) return;
        const Corners c = corners_of(uv[i], level, table_log2);
        const vec2 g = vec2(dx[i * levels + level]) * fixed_point;
        for (uint n = 0; n < 4; ++n) {
            const uint at = first_feature + c.entry[n] * features;
            const ivec2 part = ivec2(round(g * c.weight[n]));
            if (part.x != 0) atomicAdd(sum[at], part.x);
            if (part.y != 0) atomicAdd(sum[at + 1], part.y);
        }
    }
}
