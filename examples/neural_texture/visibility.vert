// SPDX-License-Identifier: MIT
// The torus into the depth buffer: an instance is a strip of triangles around it. The vertices are computed; there are
// no vertex buffers, and no fragment shader.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "scene.glsl"
layout(push_constant) uniform Push { float time, aspect; uint around, across; };

void main() {
    const vec2 at = vec2(gl_VertexIndex / 2, gl_InstanceIndex + (gl_VertexIndex & 1)) / vec2(around, across);
    const vec2 a = at * 6.2831853;
    const vec3 q = vec3(cos(a.x), 0, sin(a.x)) * (ring + tube * cos(a.y)) + vec3(0, tube * sin(a.y), 0);
    const vec3 p = transpose(view(time)) * (torus_at + turn(time) * q - eye(time));
    gl_Position = vec4(p.x * focal / aspect, -p.y * focal, near, p.z);
}
