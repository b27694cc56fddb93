// SPDX-License-Identifier: MIT
// Half the squared error of the network against the reference, and its gradient (the sum over the batch, not the mean,
// so that f16 needs no scale). One invocation for each point.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer Outputs { EIGHT y[]; };
layout(std430, binding = 1) readonly buffer Targets { EIGHT target[]; };
layout(std430, binding = 2) writeonly buffer Gradients { EIGHT dy[]; };
layout(std430, binding = 3) writeonly buffer Losses { vec2 loss[]; };  // of 64 points: all outputs, the colour alone
shared vec2 total[64];

void main() {
    const uint i = gl_GlobalInvocationID.x, t = gl_LocalInvocationID.x;
    const float wanted[outputs] = floats_of(target[i]);
    float e[outputs] = floats_of(y[i]);
    vec2 squares = vec2(0);
    [[unroll]] for (uint c = 0; c < outputs; ++c) {
        e[c] -= wanted[c];
        squares += vec2(0.5, c < 3 ? 1.0 : 0.0) * e[c] * e[c];
    }
    dy[i] = eight_of(e);
    total[t] = squares;
    for (uint left = 32; left > 0; left /= 2) {
        barrier();
        if (t < left) total[t] += total[t + left];
    }
    if (t == 0) loss[gl_WorkGroupID.x] = total[0];
}
