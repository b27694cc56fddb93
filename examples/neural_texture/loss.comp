// SPDX-License-Identifier: MIT
// Half the squared error of the network against the material, its gradient (the sum over the batch, not the mean, so
// that f16 needs no scale), and the gradient of the last bias. One invocation for each point.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "material.glsl"
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer Points { vec2 uv[]; };
layout(std430, binding = 1) readonly buffer Outputs { REAL y[]; };
layout(std430, binding = 2) writeonly buffer Gradients { REAL dy[]; };
layout(std430, binding = 3) buffer Sums { int sum[]; };
layout(std430, binding = 4) writeonly buffer Losses { vec2 loss[]; };  // of 64 points: all outputs, the colour alone
layout(push_constant) uniform Push { uint rows, material, first_bias; float fixed_point; };
shared float error[64][outputs];

void main() {
    const uint i = gl_GlobalInvocationID.x, t = gl_LocalInvocationID.x;
    float target[outputs];
    if (i < rows) target = material_at(uv[i], material);
    for (uint c = 0; c < outputs; ++c) {
        const float e = i < rows ? float(y[i * outputs + c]) - target[c] : 0.0;
        error[t][c] = e;
        if (i < rows) dy[i * outputs + c] = REAL(e);
    }
    barrier();
    if (t < outputs) {
        float total = 0.0;
        for (uint r = 0; r < 64; ++r) total += error[r][t];
        atomicAdd(sum[first_bias + t], int(round(total * fixed_point)));
    }
    if (t == 0) {
        vec2 squares = vec2(0);
        for (uint r = 0; r < 64; ++r)
            for (uint c = 0; c < outputs; ++c) {
                const float s = error[r][c] * error[r][c];
                squares += vec2(0.5 * s, c < 3 ? s : 0.0);
            }
        loss[gl_WorkGroupID.x] = squares;
    }
}
