// SPDX-License-Identifier: MIT
// What the shaders of this example share.
#extension GL_EXT_control_flow_attributes : require
#ifdef F16
#extension GL_EXT_shader_16bit_storage : require
#define REAL2 f16vec2
#define REAL4 f16vec4
#else
#define REAL2 vec2
#define REAL4 vec4
#endif
#include "shared.h"

// Eight neighbouring activations, as they lie in memory: in f16 they are one access of 16 bytes.
#ifdef F16
#define EIGHT uvec4
float[8] floats_of(EIGHT e) {
    const vec2 a = unpackHalf2x16(e.x), b = unpackHalf2x16(e.y), c = unpackHalf2x16(e.z), d = unpackHalf2x16(e.w);
    return float[8](a.x, a.y, b.x, b.y, c.x, c.y, d.x, d.y);
}
EIGHT eight_of(float f[8]) {
    return uvec4(packHalf2x16(vec2(f[0], f[1])), packHalf2x16(vec2(f[2], f[3])), packHalf2x16(vec2(f[4], f[5])),
                 packHalf2x16(vec2(f[6], f[7])));
}
#else
struct EIGHT {
    vec4 low, high;
};
float[8] floats_of(EIGHT e) {
    return float[8](e.low.x, e.low.y, e.low.z, e.low.w, e.high.x, e.high.y, e.high.z, e.high.w);
}
EIGHT eight_of(float f[8]) { return EIGHT(vec4(f[0], f[1], f[2], f[3]), vec4(f[4], f[5], f[6], f[7])); }
#endif

uint pcg(uint v) {
    const uint state = v * 747796405u + 2891336453u;
    const uint word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
    return (word >> 22u) ^ word;
}
float random(uint v) { return float(pcg(v) >> 8) * (1.0 / 16777216.0); }
// Point `i` of the batch of a training step. The passes that need it compute it, and none stores it. Each 8,192 points
// lie at random in a strip of the texture, so that the passes which read and add to features do so in few places.
vec2 batch_point(uint i, uint step, uint batch) {
    const uint at = pcg(i ^ pcg(step ^ pcg(1)));
    const uint strips = (batch + strip - 1) / strip;
    return vec2(random(at), (float(i / strip) + random(at ^ 0x9e3779b9u)) / float(strips));
}
