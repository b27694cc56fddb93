// SPDX-License-Identifier: MIT
// Copies args.trips chunks of 16 bytes, PEAK_CHUNKS an invocation: how fast a device's memory is.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "peak.h"

layout(local_size_x_id = PEAK_WG) in;
layout(push_constant, std430) uniform Push { PeakArgs args; };
layout(std430, set = 0, binding = PEAK_FROM) readonly restrict buffer From { uvec4 from[]; };
layout(std430, set = 0, binding = PEAK_TO) writeonly restrict buffer To { uvec4 to[]; };

void main() {
    const uint first = gl_WorkGroupID.x * PEAK_CHUNKS * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    uvec4 chunk[PEAK_CHUNKS];
    [[unroll]] for (uint i = 0; i < PEAK_CHUNKS; ++i) chunk[i] = from[min(first + i * gl_WorkGroupSize.x, args.trips - 1)];
    [[unroll]] for (uint i = 0; i < PEAK_CHUNKS; ++i)
        if (first + i * gl_WorkGroupSize.x < args.trips) to[first + i * gl_WorkGroupSize.x] = chunk[i];
}
