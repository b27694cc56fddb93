// SPDX-License-Identifier: MIT
// The references, without any asset. A material is 8 numbers for each point: colour (3), roughness; the slope of the
// surface (2), and two that are 0. `uv` repeats with period 1.
float hash(uvec2 p, uint salt) { return random(p.x * 1619u + p.y * 31337u + salt * 6971u); }
uvec2 wrapped(uvec2 p, uint period) { return mix(p, p - period, greaterThanEqual(p, uvec2(period))); }
float noise(vec2 uv, uint period, uint salt) {
    const vec2 p = fract(uv) * float(period), f = fract(p), u = f * f * f * (f * (f * 6.0 - 15.0) + 10.0);
    const uvec2 low = wrapped(uvec2(p), period), high = wrapped(low + 1u, period);
    const float a = hash(low, salt), b = hash(uvec2(high.x, low.y), salt);
    const float c = hash(uvec2(low.x, high.y), salt), d = hash(high, salt);
    return mix(mix(a, b, u.x), mix(c, d, u.x), u.y);
}
float fbm(vec2 uv, uint period, uint salt, uint octaves) {
    float sum = 0.0, scale = 0.5;
    for (uint o = 0; o < octaves; ++o, period *= 2, scale *= 0.5) sum += scale * noise(uv, period, salt + o);
    return sum;
}

// x: how much of a brick there is at uv, from 0 (mortar) to 1; y: its height; z: a random number of the brick.
vec3 brick(vec2 uv) {
    vec2 p = fract(uv) * vec2(4, 8);
    p.x += 0.5 * mod(floor(p.y), 2.0);
    const vec2 f = fract(p);
    vec2 edge = min(f, 1.0 - f) * vec2(2, 1);  // in heights of a brick
    edge += 0.05 * (noise(uv, 32, 7u) - 0.5);
    const vec2 corner = max(0.22 - edge, 0.0);  // rounded
    const float inside = smoothstep(0.0, 0.09, 0.15 - length(corner));
    const float tone = hash(uvec2(p) % uvec2(4, 8), 3u);
    return vec3(inside, inside * (0.7 + 0.2 * tone + 0.25 * fbm(uv, 24, 11u, 2)), tone);
}
mat2x4 brick_material(vec2 uv) {
    const vec3 b = brick(uv);
    const float e = 1.0 / 512.0;
    const vec2 slope = (vec2(brick(uv + vec2(e, 0)).y, brick(uv + vec2(0, e)).y) - b.y) / e * 0.012;
    const float grain = fbm(uv, 16, 23u, 3);
    vec3 clay = mix(vec3(0.55, 0.20, 0.13), vec3(0.80, 0.42, 0.27), b.z);
    clay = mix(clay, vec3(0.36, 0.17, 0.16), smoothstep(0.72, 0.95, fract(b.z * 7.3)));
    const vec3 colour = mix(vec3(0.72, 0.69, 0.62) * (0.75 + 0.4 * grain), clay * (0.65 + 0.7 * grain), b.x);
    return mat2x4(colour, mix(0.9, 0.45 + 0.3 * grain, b.x), slope, 0.0, 0.0);
}
mat2x4 marble_material(vec2 uv) {
    const vec2 warp = vec2(fbm(uv, 4, 31u, 3), fbm(uv, 4, 41u, 3)) - 0.45;
    const float veins = abs(sin(6.2831853 * (uv.x + uv.y + 1.1 * warp.x + 0.7 * warp.y)));
    const float fine = abs(sin(6.2831853 * (2.0 * uv.x - uv.y + 1.3 * warp.y + 0.3)));
    const float cloud = fbm(uv, 6, 53u, 3);
    vec3 colour = mix(vec3(0.93, 0.92, 0.90), vec3(0.62, 0.66, 0.70), 0.9 * cloud);
    colour = mix(vec3(0.16, 0.19, 0.24), colour, smoothstep(0.0, 0.35, veins));
    colour = mix(vec3(0.72, 0.55, 0.30), colour, smoothstep(0.0, 0.16, fine) * 0.7 + 0.3);
    return mat2x4(colour, 0.12 + 0.2 * cloud, 0.0, 0.0, 0.0, 0.0);
}
// The signed distance to a star with five points in a ring; below 0 inside. The network learns it as a number.
float shape(vec2 uv) {
    const vec2 p = fract(uv) - 0.5;
    const float sector = 6.2831853 / 5.0, angle = atan(p.x, p.y);
    const float a = abs(mod(angle + 0.5 * sector, sector) - 0.5 * sector), r = length(p);
    const vec2 q = r * vec2(sin(a), cos(a)), tip = vec2(0, 0.34), dent = 0.15 * vec2(sin(0.5 * sector), cos(0.5 * sector));
    const vec2 along = dent - tip, from = q - tip;
    const float t = clamp(dot(from, along) / dot(along, along), 0.0, 1.0);
    const float side = from.x * along.y - from.y * along.x;
    const float star = length(from - along * t) * (side > 0.0 ? -1.0 : 1.0);
    return min(star, abs(r - 0.42) - 0.025);
}
mat2x4 material_at(vec2 uv, uint material) {
    if (material == 0u) return brick_material(uv);
    if (material == 1u) return marble_material(uv);
    const float d = 4.0 * shape(uv);  // three numbers, so that PSNR means the same for all materials
    return mat2x4(vec3(0.5 + 0.5 * d), 0.4, 0.0, 0.0, 0.0, 0.0);
}
// What is drawn: the colour of a distance, otherwise the material itself.
mat2x4 surface_of(mat2x4 m, uint material) {
    if (material != 2u) return m;
    const float d = (m[0].r * 2.0 - 1.0) / 4.0, stripe = 0.5 + 0.5 * cos(d * 180.0);
    vec3 colour = d < 0.0 ? vec3(0.95, 0.55, 0.16) : mix(vec3(0.10, 0.22, 0.42), vec3(0.16, 0.36, 0.60), stripe);
    colour = mix(vec3(0.97), colour, smoothstep(0.004, 0.009, abs(d)));
    return mat2x4(colour, d < 0.0 ? 0.25 : 0.55, 0.0, 0.0, 0.0, 0.0);
}
