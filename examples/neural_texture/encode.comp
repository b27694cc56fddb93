// SPDX-License-Identifier: MIT
// uv -> the network's first activations, column by column: all points of a feature lie side by side. An invocation has
// one level of two points.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "encoding.glsl"
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer Points { vec4 uv[]; };
layout(std430, binding = 1) readonly buffer Network { REAL2 feature[]; };
layout(std430, binding = 2) writeonly buffer Activations { REAL2 x[]; };
layout(std430, binding = 3) readonly buffer Counted { Group group; };
layout(push_constant) uniform Push { uint source, rows, stride, step_or_side, first_feature; };
const uint listed = 0, counted = 1, random_ones = 2;  // points; as in network.cpp

vec4 pair_of_points(uint pair) {
    if (source <= counted) return uv[pair];
    if (source == random_ones)
        return vec4(batch_point(2 * pair, step_or_side, rows), batch_point(2 * pair + 1, step_or_side, rows));
    return vec4(grid_point(2 * pair, step_or_side), grid_point(2 * pair + 1, step_or_side));
}
vec2 encoded(vec2 at, uint level, uint points) {
    const Corners c = corners_of(at, points);
    const uint table = first_feature / 2 + level * table_size;
    vec2 sum = vec2(0);
    [[unroll]] for (uint n = 0; n < 4; ++n) sum += c.weight[n] * vec2(feature[table + c.entry[n]]);
    return sum;
}

void main() {
    const uint pair = gl_GlobalInvocationID.x, level = gl_WorkGroupID.y;
    if (2 * pair >= (source == counted ? min(group.m, rows) : rows)) return;
    const uint points = points_of(level);
    const vec4 at = pair_of_points(pair);
    const vec2 one = encoded(at.xy, level, points), other = encoded(at.zw, level, points);
    x[level * stride + pair] = REAL2(vec2(one.x, other.x));  // a column has stride / 2 pairs
    x[level * stride + stride / 2 + pair] = REAL2(vec2(one.y, other.y));
}
