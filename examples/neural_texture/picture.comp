// SPDX-License-Identifier: MIT
// Four pictures of the texture, one after the other: the network's, the reference, their difference times 8, and, as
// floats, the squared error of the colour.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "material.glsl"
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer Outputs { REAL4 y[]; };
layout(std430, binding = 1) writeonly buffer Pictures { uint pixel[]; };
layout(std430, binding = 2) readonly buffer Points { vec2 uv[]; };
layout(push_constant) uniform Push { uint rows, material; };

void main() {
    const uint i = gl_GlobalInvocationID.x;
    if (i >= rows) return;
    const mat2x4 network = EIGHT(y, i), reference = material_at(uv[i], material);
    const vec3 difference = network[0].rgb - reference[0].rgb;
    pixel[i] = packUnorm4x8(vec4(surface_of(network, material)[0].rgb, 1));
    pixel[rows + i] = packUnorm4x8(vec4(surface_of(reference, material)[0].rgb, 1));
    pixel[2 * rows + i] = packUnorm4x8(vec4(abs(difference) * 8.0, 1));
    pixel[3 * rows + i] = floatBitsToUint(dot(difference, difference));
}
