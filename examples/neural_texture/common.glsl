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

// Eight numbers, two vectors of a buffer: what the network gives for a point, or the reference.
#define EIGHT(buffer, i) mat2x4(vec4(buffer[2 * (i)]), vec4(buffer[2 * (i) + 1]))

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
