// SPDX-License-Identifier: MIT
// The reference texels of the batch: what the network ought to give at its points.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "material.glsl"
layout(local_size_x = 64) in;
layout(std430, binding = 0) writeonly buffer Targets { EIGHT target[]; };
layout(push_constant) uniform Push { uint batch, step, material; };

void main() {
    const uint i = gl_GlobalInvocationID.x;
    target[i] = eight_of(material_at(batch_point(i, step, batch), material));
}
