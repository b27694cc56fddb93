// SPDX-License-Identifier: MIT
// Multiply-adds and nothing else, in chains that do not wait for one another: the most that the units of NUMBER can do.
// `vkgemm bench` compares its rates with it. Nothing is written unless a sum gets a value that it never gets.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "peak.h"

layout(local_size_x_id = PEAK_WG) in;
layout(push_constant, std430) uniform Push { PeakArgs args; };
layout(std430, set = 0, binding = PEAK_TO) buffer Never { uint never[]; };

#ifdef INTEGER
#define NUMBER int
#define FROM_BITS(bits) int(bits)
#define MULTIPLY_ADD(x, y, z) ((x) * (y) + (z))
#elif defined(DOUBLE)
#define NUMBER double
#define FROM_BITS(bits) double(uintBitsToFloat(bits))
#define MULTIPLY_ADD(x, y, z) fma(x, y, z)
#else
#define NUMBER float
#define FROM_BITS(bits) uintBitsToFloat(bits)
#define MULTIPLY_ADD(x, y, z) fma(x, y, z)
#endif

void main() {
    const NUMBER y = FROM_BITS(args.factor), z = FROM_BITS(args.term);
    NUMBER x[PEAK_SUMS];
    [[unroll]] for (uint i = 0; i < PEAK_SUMS; ++i) x[i] = NUMBER(gl_GlobalInvocationID.x + i);
    for (uint k = 0; k < args.trips; ++k)
        [[unroll]] for (uint round = 0; round < PEAK_ROUNDS; ++round)
            [[unroll]] for (uint i = 0; i < PEAK_SUMS; ++i) x[i] = MULTIPLY_ADD(x[i], y, z);
    NUMBER sum = x[0];
    [[unroll]] for (uint i = 1; i < PEAK_SUMS; ++i) sum += x[i];
    if (sum == NUMBER(123456789)) never[0] = 1;
}
