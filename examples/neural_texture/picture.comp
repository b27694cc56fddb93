// SPDX-License-Identifier: MIT
// Four pictures of the texture, one after the other: the network's, the reference, their difference times 8, and, as
// floats, the squared error of the colour.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "material.glsl"
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer Outputs { EIGHT y[]; };
layout(std430, binding = 1) writeonly buffer Pictures { uint pixel[]; };
layout(std430, binding = 2) readonly buffer Points { vec2 uv[]; };
layout(push_constant) uniform Push { uint rows, material; };

void main() {
    const uint i = gl_GlobalInvocationID.x;
    if (i >= rows) return;
    const float network[outputs] = floats_of(y[i]), reference[outputs] = material_at(uv[i], material);
    const vec3 n = vec3(network[0], network[1], network[2]), r = vec3(reference[0], reference[1], reference[2]);
    const float shown[outputs] = surface_of(network, material), truth[outputs] = surface_of(reference, material);
    pixel[i] = packUnorm4x8(vec4(shown[0], shown[1], shown[2], 1));
    pixel[rows + i] = packUnorm4x8(vec4(truth[0], truth[1], truth[2], 1));
    pixel[2 * rows + i] = packUnorm4x8(vec4(abs(n - r) * 8.0, 1));
    pixel[3 * rows + i] = floatBitsToUint(dot(n - r, n - r));
}
