// SPDX-License-Identifier: MIT
// Half the squared error of the network against the reference, and its gradient: the error itself. One invocation for
// each point.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer Outputs { REAL4 y[]; };
layout(std430, binding = 1) readonly buffer Targets { REAL4 target[]; };
layout(std430, binding = 2) writeonly buffer Gradients { REAL4 dy[]; };
layout(std430, binding = 3) writeonly buffer Losses { vec2 loss[]; };  // of 64 points: all outputs, the colour alone
shared vec2 total[64];

void main() {
    const uint i = gl_GlobalInvocationID.x, t = gl_LocalInvocationID.x;
    const mat2x4 e = EIGHT(y, i) - EIGHT(target, i);
    dy[2 * i] = REAL4(e[0]);
    dy[2 * i + 1] = REAL4(e[1]);
    total[t] = vec2(0.5 * (dot(e[0], e[0]) + dot(e[1], e[1])), dot(e[0].rgb, e[0].rgb));
    for (uint left = 32; left > 0; left /= 2) {
        barrier();
        if (t < left) total[t] += total[t + left];
    }
    if (t == 0) loss[gl_WorkGroupID.x] = total[0];
}
