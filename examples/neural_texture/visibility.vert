// SPDX-License-Identifier: MIT
// Instance 0 is the plane, instance 1 the torus. The vertices are computed; there are no vertex buffers.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "scene.glsl"
layout(push_constant) uniform Push { float time, aspect; uint around, across; };
layout(location = 0) flat out float side;

void main() {
    const uint corner = uint(gl_VertexIndex) % 6u, quad = uint(gl_VertexIndex) / 6u;
    const vec2 c = vec2[](vec2(0, 0), vec2(1, 0), vec2(1, 1), vec2(0, 0), vec2(1, 1), vec2(0, 1))[corner];
    side = gl_InstanceIndex == 0 ? 1.0 : -1.0;
    vec3 position = vec3(c.x * 24.0 - 12.0, 0, 6.0 - c.y * 18.0);
    if (gl_InstanceIndex != 0) {
        const vec2 t = (vec2(quad % around, quad / around) + c) / vec2(around, across), a = t * 6.2831853;
        const vec3 out_of_axis = vec3(cos(a.x), 0, sin(a.x));
        position = torus_at + turn(time) * (out_of_axis * (ring + tube * cos(a.y)) + vec3(0, tube * sin(a.y), 0));
    }
    const vec3 p = transpose(view(time)) * (position - eye(time));
    const float near = 0.1, far = 40.0;
    gl_Position = vec4(p.x * focal / aspect, -p.y * focal, (p.z - near) * far / (far - near), p.z);
}
