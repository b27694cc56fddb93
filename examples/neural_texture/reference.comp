// SPDX-License-Identifier: MIT
// The reference texels of the batch: what the network ought to give at its points.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "material.glsl"
layout(local_size_x = 64) in;
layout(std430, binding = 0) writeonly buffer Targets { REAL4 target[]; };
layout(push_constant) uniform Push { uint batch, step, material; };

void main() {
    const uint i = gl_GlobalInvocationID.x;
    const mat2x4 m = material_at(batch_point(i, step, batch), material);
    target[2 * i] = REAL4(m[0]);
    target[2 * i + 1] = REAL4(m[1]);
}
