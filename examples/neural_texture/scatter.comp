// SPDX-License-Identifier: MIT
// The encoding backwards: adds the gradient of each activation to the features that it came from. Few features get most
// of the gradients, and memory adds to one place one number after the other. So a work group has one slice of one
// level's table in shared memory, where it adds up what a part of the batch gives to it; memory gets the totals. Sums
// are in fixed point, so that they do not depend on the order.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "encoding.glsl"
layout(local_size_x = 512) in;
layout(std430, binding = 0) readonly buffer Gradients { REAL2 dx[]; };  // as encode.comp has the activations
layout(std430, binding = 1) buffer Sums { int sum[]; };
layout(push_constant) uniform Push { uint rows, stride, step, slices, points_each; float fixed_point; };

const uint slice = 4096;             // entries of a table; network.cpp has the same number
shared int total[features * slice];  // all entries' first features, then their second ones

void add(vec2 at, vec2 g, uint points, uint first) {
    const Corners c = corners_of(at, points);
    [[unroll]] for (uint n = 0; n < 4; ++n) {
        const uint entry = c.entry[n] - first;
        const ivec2 part = ivec2(round(g * c.weight[n]));
        if (entry < slice) {
            atomicAdd(total[entry], part.x);
            atomicAdd(total[slice + entry], part.y);
        }
    }
}

void main() {
    const uint level = gl_WorkGroupID.y / slices, first = gl_WorkGroupID.y % slices * slice;
    const uint points = points_of(level), entries = min(min(points * points, table_size) - first, slice);
    if (first >= points * points) return;  // a coarse grid has fewer slices
    const uint t = gl_LocalInvocationID.x;
    for (uint i = t; i < features * slice; i += 512) total[i] = 0;
    barrier();
    const uint begin = gl_WorkGroupID.x * points_each, end = min(begin + points_each, rows);
    for (uint pair = begin / 2 + t; pair < end / 2; pair += 512) {
        const vec2 x = vec2(dx[level * stride + pair]) * fixed_point;
        const vec2 y = vec2(dx[level * stride + stride / 2 + pair]) * fixed_point;
        add(batch_point(2 * pair, step), vec2(x.x, y.x), points, first);
        add(batch_point(2 * pair + 1, step), vec2(x.y, y.y), points, first);
    }
    barrier();
    for (uint i = t; i < features * entries; i += 512) {
        const int part = total[i % features * slice + i / features];
        if (part != 0) atomicAdd(sum[(level * table_size + first) * features + i], part);
    }
}
