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
