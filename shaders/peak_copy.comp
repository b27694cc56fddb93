// SPDX-License-Identifier: MIT
// Copies args.k 16-byte chunks from A to D, PEAK_CHUNKS an invocation, to measure the bandwidth of a device's memory.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "extensions.glsl"
#include "abi.h"
#include "peak.h"

layout(local_size_x_id = 0) in;  // WG
layout(push_constant, std430) uniform Push { GemmArgs args; };
layout(std430, set = 0, binding = BIND_A) readonly restrict buffer From { uvec4 from[]; };
layout(std430, set = 0, binding = BIND_D) writeonly restrict buffer To { uvec4 to[]; };

void main() {
    const uint first = gl_WorkGroupID.x * PEAK_CHUNKS * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    uvec4 chunk[PEAK_CHUNKS];
    [[unroll]] for (uint i = 0; i < PEAK_CHUNKS; ++i) chunk[i] = from[min(first + i * gl_WorkGroupSize.x, args.k - 1)];
    [[unroll]] for (uint i = 0; i < PEAK_CHUNKS; ++i)
        if (first + i * gl_WorkGroupSize.x < args.k) to[first + i * gl_WorkGroupSize.x] = chunk[i];
}
