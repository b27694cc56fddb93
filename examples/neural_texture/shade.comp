// SPDX-License-Identifier: MIT
// Lights each pixel. On the left of the split its material is the network's output, on the right the reference.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "material.glsl"
#include "scene.glsl"
layout(local_size_x = 8, local_size_y = 8) in;
layout(std430, binding = 0) readonly buffer Outputs { EIGHT y[]; };
layout(std430, binding = 1) readonly buffer Rows { uint row_of[]; };
layout(binding = 7, rgba32f) uniform readonly image2D surface;
layout(binding = 8, rgba32f) uniform readonly image2D place;
layout(binding = 9, rgba8) uniform writeonly image2D screen;
layout(push_constant) uniform Push { uint width, height, split, material; float time; };

float torus(vec3 p) {  // the distance to it
    p = transpose(turn(time)) * (p - torus_at);
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
vec3 colour_of(ivec2 at, vec4 s, vec4 w) {
    const float m[8] = surface_of(
        at.x < split ? floats_of(y[row_of[at.y * width + at.x]]) : material_at(s.xy, material), material);
    vec3 n = vec3(s.zw, sqrt(max(0.0, 1.0 - dot(s.zw, s.zw))) * sign(w.w));
    // The direction in which u grows: along the axis of the plane, and around that of the torus.
    const vec3 axis = turn(time)[1];
    const vec3 u = abs(w.w) < 1.5 ? vec3(1, 0, 0) : normalize(cross(w.xyz - torus_at, axis)), v = cross(u, n);
    const float fade = 1.0 / (1.0 + 0.02 * dot(w.xyz - eye(time), w.xyz - eye(time)));
    n = normalize(n - fade * (m[4] * u + m[5] * (abs(w.w) < 1.5 ? -v : v)));
    const vec3 colour = pow(clamp(vec3(m[0], m[1], m[2]), 0.0, 1.0), vec3(2.2));
    return lit(w.xyz, n, normalize(eye(time) - w.xyz), colour, clamp(m[3], 0.05, 1.0));
}

void main() {
    const ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    if (at.x >= width || at.y >= height) return;
    const vec4 s = imageLoad(surface, at), w = imageLoad(place, at);
    const vec2 p = (vec2(at) + 0.5) / vec2(width, height) * 2.0 - 1.0;
    const vec3 way = normalize(view(time) * vec3(p.x * float(width) / float(height), -p.y, focal));
    vec3 colour = sky(way);
    if (w.w != 0.0) {
        const float fog = 1.0 - exp(-0.0035 * dot(w.xyz - eye(time), w.xyz - eye(time)));
        colour = mix(colour_of(at, s, w), colour, fog);
    }
    colour = colour * (1.0 + colour / 6.0) / (1.0 + colour);  // tone mapping
    if (uint(at.x) == split || uint(at.x) + 1 == split) colour = vec3(1);
    imageStore(screen, at, vec4(pow(clamp(colour * 1.25, 0.0, 1.0), vec3(1.0 / 2.2)), 1));
}
