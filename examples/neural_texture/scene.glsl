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

// What a pixel sees, from the visibility buffer: the distance along the view's axis, of the torus negated; 0: the sky.
struct Surface {
    bool is_sky;
    vec3 way;  // of the ray from the eye
    vec2 uv;
    vec3 position, normal, along_u;  // along_u: the direction in which u grows
};
Surface surface_at(vec2 pixel, vec2 size, float visible, float time) {
    const vec2 p = (pixel + 0.5) / size * 2.0 - 1.0;
    const vec3 way = view(time) * vec3(p.x * size.x / size.y, -p.y, focal);
    const vec3 position = eye(time) + way * (abs(visible) / focal);
    if (visible >= 0.0) return Surface(visible == 0.0, way, position.xz * 0.5, position, vec3(0, 1, 0), vec3(1, 0, 0));
    const mat3 axes = turn(time);
    const vec3 q = transpose(axes) * (position - torus_at), outwards = normalize(vec3(q.x, 0, q.z));
    const vec2 angle = vec2(atan(q.z, q.x), atan(q.y, length(q.xz) - ring));
    const vec3 normal = outwards * cos(angle.y) + vec3(0, sin(angle.y), 0);
    return Surface(false, way, angle / 6.2831853 * vec2(4, 2), position, axes * normal,
                   axes * vec3(-outwards.z, 0, outwards.x));
}
