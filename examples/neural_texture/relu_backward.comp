// SPDX-License-Identifier: MIT
// The gradient of a layer's product, from that of its ReLU: zero where the activation is. Also adds up the columns,
// which is the gradient of the bias. A work group has 64 rows; its invocations each have every 64th column.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer Activations { REAL x[]; };
layout(std430, binding = 1) buffer Gradients { REAL dx[]; };
layout(std430, binding = 2) buffer Sums { int sum[]; };
layout(push_constant) uniform Push { uint rows, width, first_bias; float fixed_point; };

void main() {
    const uint begin = gl_WorkGroupID.x * 64, end = min(begin + 64, rows);
    for (uint column = gl_LocalInvocationID.x; column < width; column += 64) {
        float total = 0.0;
        for (uint row = begin; row < end; ++row) {
            const uint at = row * width + column;
            const float g = float(x[at]) > 0.0 ? float(dx[at]) : 0.0;
            dx[at] = REAL(g);
            total += g;
        }
        atomicAdd(sum[first_bias + column], int(round(total * fixed_point)));
    }
}
