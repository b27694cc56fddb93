// SPDX-License-Identifier: MIT
// Multiply-adds and nothing else, in chains that do not wait for one another: the highest rate that the units of ACC
// reach, to which `vkgemm bench` compares its rates. An invocation makes args.k trips, each of what peak.h defines.
// alpha and beta are the bits of values that keep the numbers from settling. Only a sum that never occurs is written.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "extensions.glsl"
#include "abi.h"
#include "peak.h"
#include "types.glsl"

layout(local_size_x_id = 0) in;  // WG
layout(push_constant, std430) uniform Push { GemmArgs args; };
layout(std430, set = 0, binding = BIND_D) buffer Never { uint never[]; };

#define f32_step(x, y, z) fma(x, y, z)
#define i32_step(x, y, z) ((x) * (y) + (z))
#define MULTIPLY_ADD VKGEMM_PASTE(ACC, _step)

void main() {
    const acc_t y = acc_from_bits(args.alpha), z = acc_from_bits(args.beta);
    acc_t x[PEAK_CHAINS];
    [[unroll]] for (uint i = 0; i < PEAK_CHAINS; ++i) x[i] = acc_t(gl_GlobalInvocationID.x + i);
    for (uint k = 0; k < args.k; ++k)
        [[unroll]] for (uint round = 0; round < PEAK_ROUNDS; ++round)
            [[unroll]] for (uint i = 0; i < PEAK_CHAINS; ++i) x[i] = MULTIPLY_ADD(x[i], y, z);
    acc_t sum = x[0];
    [[unroll]] for (uint i = 1; i < PEAK_CHAINS; ++i) sum += x[i];
    if (sum == acc_t(123456789)) never[0] = 1;
}
