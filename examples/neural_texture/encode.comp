// SPDX-License-Identifier: MIT
// uv -> the network's first activations, column by column: all points of a feature lie side by side. An invocation has
// one level of two points.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "encoding.glsl"
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer Network { REAL2 feature[]; };
layout(std430, binding = 1) writeonly buffer Activations { REAL2 x[]; };
layout(std430, binding = 2) readonly buffer Points { vec4 uv[]; };
layout(push_constant) uniform Push { uint of_batch, rows, stride, step, first_feature; };  // of_batch: else of the list

vec2 encoded(vec2 at, uint level, uint points) {
    const Corners c = corners_of(at, points);
    const uint table = first_feature / 2 + level * table_size;
    vec2 sum = vec2(0);
    [[unroll]] for (uint n = 0; n < 4; ++n) sum += c.weight[n] * vec2(feature[table + c.entry[n]]);
    return sum;
}

void main() {
    const uint pair = gl_GlobalInvocationID.x, level = gl_WorkGroupID.y;
    if (2 * pair >= rows) return;
    const uint points = points_of(level);
    const vec4 at = of_batch == 0 ? uv[pair] : vec4(batch_point(2 * pair, step, rows), batch_point(2 * pair + 1, step, rows));
    const vec2 one = encoded(at.xy, level, points), other = encoded(at.zw, level, points);
    x[level * stride + pair] = REAL2(vec2(one.x, other.x));  // a column has stride / 2 pairs
    x[level * stride + stride / 2 + pair] = REAL2(vec2(one.y, other.y));
}
