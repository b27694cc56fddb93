// SPDX-License-Identifier: MIT
// Copies args.k 16-byte chunks from A to D, PEAK_PIECES an invocation: how fast a device's memory is.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "abi.h"
#include "peak.h"

layout(local_size_x_id = 0) in;  // WG
layout(push_constant, std430) uniform Push { GemmArgs args; };
layout(std430, set = 0, binding = BIND_A) readonly restrict buffer From { uvec4 from[]; };
layout(std430, set = 0, binding = BIND_D) writeonly restrict buffer To { uvec4 to[]; };

void main() {
    const uint first = gl_WorkGroupID.x * PEAK_PIECES * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    uvec4 piece[PEAK_PIECES];
    [[unroll]] for (uint i = 0; i < PEAK_PIECES; ++i) piece[i] = from[min(first + i * gl_WorkGroupSize.x, args.k - 1)];
    [[unroll]] for (uint i = 0; i < PEAK_PIECES; ++i)
        if (first + i * gl_WorkGroupSize.x < args.k) to[first + i * gl_WorkGroupSize.x] = piece[i];
}
