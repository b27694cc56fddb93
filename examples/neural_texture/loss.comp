// SPDX-License-Identifier: MIT
// Half the squared error of the network against the reference. One invocation for each point.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer Errors { EIGHT error[]; };
layout(std430, binding = 1) writeonly buffer Losses { vec2 loss[]; };  // of 64 points: all outputs, the colour alone
shared vec2 total[64];

void main() {
    const uint i = gl_GlobalInvocationID.x, t = gl_LocalInvocationID.x;
    const float e[outputs] = floats_of(error[i]);
    vec2 squares = vec2(0);
    [[unroll]] for (uint c = 0; c < outputs; ++c) squares += vec2(0.5, c < 3 ? 1.0 : 0.0) * e[c] * e[c];
    total[t] = squares;
    for (uint left = 32; left > 0; left /= 2) {
        barrier();
        if (t < left) total[t] += total[t + left];
    }
    if (t == 0) loss[gl_WorkGroupID.x] = total[0];
}
