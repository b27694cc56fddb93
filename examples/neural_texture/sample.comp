// SPDX-License-Identifier: MIT
// The points of a batch: random ones for training, or a grid of `columns` for a picture of the texture.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
layout(local_size_x = 64) in;
layout(std430, binding = 0) writeonly buffer Points { vec2 uv[]; };
layout(push_constant) uniform Push { uint rows, step, seed, columns; };

void main() {
    const uint i = gl_GlobalInvocationID.x;
    if (i >= rows) return;
    const uint at = pcg(i ^ pcg(step ^ pcg(seed)));
    uv[i] = columns == 0u ? vec2(random(at), random(at ^ 0x9e3779b9u))
                          : (vec2(i % columns, i / columns) + 0.5) / float(columns);
}
