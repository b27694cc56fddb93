// SPDX-License-Identifier: MIT
// The scene: a torus that turns above a plane, seen by one camera under one moving light.
const vec3 torus_at = vec3(0, 1.15, 0);
const float ring = 1.0, tube = 0.44;

mat3 turn(float time) {  // of the torus
    const float a = 0.6 * time, b = 1.05 + 0.25 * sin(0.4 * time);
    const mat3 y = mat3(cos(a), 0, -sin(a), 0, 1, 0, sin(a), 0, cos(a));
    const mat3 x = mat3(1, 0, 0, 0, cos(b), sin(b), 0, -sin(b), cos(b));
    return y * x;
}
vec3 eye(float time) { return vec3(0.9 * sin(0.23 * time), 1.75, 3.35); }
vec3 light(float time) { return vec3(3.4 * cos(0.7 * time + 1.6), 3.6, 1.3 + 1.8 * sin(0.7 * time)); }
mat3 view(float time) {  // columns: right, up, forward
    const vec3 forward = normalize(vec3(0, 0.92, 0) - eye(time)), right = normalize(cross(forward, vec3(0, 1, 0)));
    return mat3(right, cross(right, forward), forward);
}
const float focal = 1.55;  // heights of the screen, halved
const float near = 0.1;    // depth is near / distance along the axis of the view; 0: no torus

// What a pixel sees: the torus from the depth buffer, or the plane, whichever is nearer, or the sky.
struct Surface {
    bool is_sky;
    vec3 way;  // of the ray from the eye
    vec2 uv;
    vec3 position, normal, along_u;  // along_u: the direction in which u grows
};
Surface surface_at(vec2 pixel, vec2 size, float depth, float time) {
    const vec2 p = (pixel + 0.5) / size * 2.0 - 1.0;
    const vec3 from = eye(time), way = view(time) * vec3(p.x * size.x / size.y, -p.y, focal);
    const bool is_torus = depth > 0.0;
    const float torus = is_torus ? near / (depth * focal) : 1e9, plane = way.y < 0.0 ? -from.y / way.y : 1e9;
    const vec3 ground = from + way * plane, position = from + way * torus;
    if (plane < torus && all(lessThan(abs(ground.xz + vec2(0, 3)), vec2(12, 9))))
        return Surface(false, way, ground.xz * 0.5, ground, vec3(0, 1, 0), vec3(1, 0, 0));
    const mat3 axes = turn(time);
    const vec3 q = transpose(axes) * (position - torus_at), outwards = normalize(vec3(q.x, 0, q.z));
    const vec2 angle = vec2(atan(q.z, q.x), atan(q.y, length(q.xz) - ring));
    const vec3 normal = outwards * cos(angle.y) + vec3(0, sin(angle.y), 0);
    return Surface(!is_torus, way, angle / 6.2831853 * vec2(4, 2), position, axes * normal,
                   axes * vec3(-outwards.z, 0, outwards.x));
}
