// SPDX-License-Identifier: MIT
// Lights each pixel. On the left of the split its material is the network's output, on the right the reference.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "common.glsl"
#include "material.glsl"
#include "scene.glsl"
layout(local_size_x = 8, local_size_y = 8) in;
layout(std430, binding = 0) readonly buffer Outputs { REAL4 y[]; };
layout(std430, binding = 1) readonly buffer Rows { uint row_of[]; };
layout(std430, binding = 2) writeonly buffer Screen { uint pixel[]; };
layout(binding = 7) uniform texture2D depth;
layout(push_constant) uniform Push { uint width, height, split, material; float time; };

mat3 to_torus;  // the inverse of its turn

float torus(vec3 p) {  // the distance to it
    p = to_torus * (p - torus_at);
    return length(vec2(length(p.xz) - ring, p.y)) - tube;
}
float shadow(vec3 from, vec3 to) {
    const vec3 way = to - from;
    const float far = length(way);
    float lit = 1.0, t = 0.05;
    for (uint i = 0; i < 28 && t < far; ++i) {
        const float d = torus(from + way * (t / far));
        lit = min(lit, 9.0 * d / t + 0.15);
        t += clamp(d, 0.03, 0.5);
    }
    return smoothstep(0.0, 1.0, clamp(lit, 0.0, 1.0));
}
vec3 sky(vec3 way) {
    return mix(vec3(0.50, 0.56, 0.64), vec3(0.10, 0.17, 0.30), smoothstep(-0.05, 0.5, way.y));
}
// A microfacet surface (GGX) under the light and the sky.
vec3 lit(vec3 p, vec3 n, vec3 to_eye, vec3 colour, float roughness) {
    const vec3 to_light = light(time) - p, l = normalize(to_light), h = normalize(l + to_eye);
    const float nl = max(dot(n, l), 0.0), nv = max(dot(n, to_eye), 1e-3), nh = max(dot(n, h), 0.0);
    const float a = max(roughness * roughness, 0.02), d = nh * nh * (a * a - 1.0) + 1.0, k = 0.5 * a;
    const float spread = a * a / (3.14159 * d * d), masked = 0.25 / ((nl * (1.0 - k) + k) * (nv * (1.0 - k) + k));
    const float fresnel = 0.04 + 0.96 * pow(1.0 - max(dot(h, l), 0.0), 5.0);
    const vec3 strength = vec3(42.0, 38.0, 32.0) / dot(to_light, to_light) * shadow(p + n * 0.02, light(time));
    const float open = clamp(0.45 + 0.8 * torus(p + n * 0.5), 0.35, 1.0);
    const vec3 ambient = mix(vec3(0.20, 0.17, 0.15), vec3(0.42, 0.47, 0.55), 0.5 + 0.5 * n.y) * open * 0.8;
    const vec3 mirrored = sky(reflect(-to_eye, n)) * (0.04 + 0.5 * pow(1.0 - nv, 5.0)) * (1.0 - roughness) * open;
    return colour * (ambient + nl * strength * 0.8) + nl * strength * spread * masked * fresnel + mirrored;
}
vec3 colour_of(ivec2 at, Surface s) {
    const mat2x4 m =
        surface_of(at.x < split ? EIGHT(y, row_of[at.y * width + at.x]) : material_at(s.uv, material), material);
    const vec3 to_eye = eye(time) - s.position;
    const vec3 v = cross(s.along_u, s.normal);
    const vec3 n = normalize(s.normal - (m[1].x * s.along_u + m[1].y * v) / (1.0 + 0.02 * dot(to_eye, to_eye)));
    const vec3 colour = pow(clamp(m[0].rgb, 0.0, 1.0), vec3(2.2));
    return lit(s.position, n, normalize(to_eye), colour, clamp(m[0].a, 0.05, 1.0));
}

void main() {
    const ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    if (at.x >= width || at.y >= height) return;
    to_torus = transpose(turn(time));
    const Surface s = surface_at(vec2(at), vec2(width, height), texelFetch(depth, at, 0).x, time);
    vec3 colour = sky(normalize(s.way));
    if (!s.is_sky) {
        const float fog = 1.0 - exp(-0.0035 * dot(s.position - eye(time), s.position - eye(time)));
        colour = mix(colour_of(at, s), colour, fog);
    }
    colour = colour * (1.0 + colour / 6.0) / (1.0 + colour);  // tone mapping
    if (uint(at.x) == split || uint(at.x) + 1 == split) colour = vec3(1);
    const vec3 shown = pow(clamp(colour * 1.25, 0.0, 1.0), vec3(1.0 / 2.2));
    pixel[at.y * width + at.x] = packUnorm4x8(vec4(shown.bgr, 1));
}
