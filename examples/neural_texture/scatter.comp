// SPDX-License-Identifier: MIT
// The encoding backwards: adds the gradient of each activation to the features that it came from. A coarse level has
// few features, and memory adds to one place one number after the other. So a work group has an eighth of such a
// level's table in shared memory, where it adds up what a strip of points gives to it; memory gets the totals. The
// points of a hashed level meet less often: there a work group takes an eighth of the strip instead, and adds to memory
// at once. Sums are in fixed point, so that they do not depend on the order.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "encoding.glsl"
layout(local_size_x = 512) in;
layout(std430, binding = 0) readonly buffer Gradients { REAL2 dx[]; };  // as encode.comp has the activations
layout(std430, binding = 1) buffer Sums { int sum[]; };
layout(push_constant) uniform Push { uint rows, stride, step; float fixed_point; };

const uint part_size = table_size / table_parts;
shared int total[features * part_size];  // all entries' first features, then their second ones

// Two points' gradients of one feature of a level.
vec2 gradients_of(uint level, uint feature, uint pair) {
    return vec2(dx[(level * features + feature) * (stride / 2) + pair]) * fixed_point;
}

void add_to_total(vec2 at, vec2 g, uint points, uint first) {
    const Corners c = corners_of(at, points);
    [[unroll]] for (uint n = 0; n < 4; ++n) {
        const uint entry = c.entry[n] - first;
        if (entry >= part_size) continue;
        atomicAdd(total[entry], int(round(g.x * c.weight[n])));
        atomicAdd(total[part_size + entry], int(round(g.y * c.weight[n])));
    }
}
void by_totals(uint level, uint points, uint first) {
    const uint t = gl_LocalInvocationID.x, entries = min(points * points - first, part_size);
    for (uint i = t; i < features * part_size; i += 512) total[i] = 0;
    barrier();
    const uint begin = gl_WorkGroupID.x * strip, end = min(begin + strip, rows);
    for (uint pair = begin / 2 + t; pair < end / 2; pair += 512) {
        const vec2 x = gradients_of(level, 0, pair), y = gradients_of(level, 1, pair);
        add_to_total(batch_point(2 * pair, step, rows), vec2(x.x, y.x), points, first);
        add_to_total(batch_point(2 * pair + 1, step, rows), vec2(x.y, y.y), points, first);
    }
    barrier();
    for (uint i = t; i < features * entries; i += 512) {
        const int all = total[i % features * part_size + i / features];
        if (all != 0) atomicAdd(sum[(level * table_size + first) * features + i], all);
    }
}

// Two neighbouring invocations have the two features, which are neighbours in memory too.
void directly(uint level, uint points, uint part) {
    const uint begin = gl_WorkGroupID.x * strip + part * (strip / table_parts), end = min(begin + strip / table_parts, rows);
    for (uint i = gl_LocalInvocationID.x; begin + i < end; i += 512) {
        const uint pair = begin / 2 + i / features, feature = i % features;
        const vec2 g = gradients_of(level, feature, pair);
        [[unroll]] for (uint one = 0; one < 2; ++one) {
            const Corners c = corners_of(batch_point(2 * pair + one, step, rows), points);
            [[unroll]] for (uint n = 0; n < 4; ++n) {
                const uint at = (level * table_size + c.entry[n]) * features + feature;
                atomicAdd(sum[at], int(round(g[one] * c.weight[n])));
            }
        }
    }
}

// Whether the points of a strip are near the entries from `first` on of a grid that is not hashed.
bool touches(uint points, uint first) {
    const uint strips = (rows + strip - 1) / strip;
    const uint low = gl_WorkGroupID.x * points / strips, high = ((gl_WorkGroupID.x + 1) * points + strips - 1) / strips;
    return (low * points < first + part_size && (high + 2) * points > first) || (first == 0 && high >= points);
}

void main() {
    const uint level = gl_WorkGroupID.y / table_parts, part = gl_WorkGroupID.y % table_parts, first = part * part_size;
    const uint points = points_of(level);
    if (points * points > table_size) directly(level, points, part);
    else if (first < points * points && touches(points, first)) by_totals(level, points, first);
}
