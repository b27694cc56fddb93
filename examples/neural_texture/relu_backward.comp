// SPDX-License-Identifier: MIT
// The gradient of a layer's product, from that of its ReLU: zero where the activation is. Also adds up the columns,
// which is the gradient of the bias. An invocation has 4 times 8 elements of the same columns, all loaded at once.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
layout(local_size_x = 256) in;
layout(std430, binding = 0) readonly buffer Activations { EIGHT x[]; };
layout(std430, binding = 1) buffer Gradients { EIGHT dx[]; };
layout(std430, binding = 2) buffer BiasGradients { int sum[]; };
layout(push_constant) uniform Push { uint rows, width, first_bias; float fixed_point; };
shared float total[256 * 8];

void main() {
    const uint t = gl_LocalInvocationID.x, first = gl_WorkGroupID.x * 1024 + t, end = rows * (width / 8);
    EIGHT activation[4], gradient[4];
    [[unroll]] for (uint i = 0; i < 4; ++i) {
        const uint at = min(first + i * 256, end - 1);
        activation[i] = x[at], gradient[i] = dx[at];
    }
    float sums[8] = float[8](0, 0, 0, 0, 0, 0, 0, 0);
    [[unroll]] for (uint i = 0; i < 4; ++i) {
        const bool inside = first + i * 256 < end;
        const float a[8] = floats_of(activation[i]);
        float g[8] = floats_of(gradient[i]);
        [[unroll]] for (uint c = 0; c < 8; ++c) g[c] = inside && a[c] > 0.0 ? g[c] : 0.0, sums[c] += g[c];
        if (inside) dx[first + i * 256] = eight_of(g);
    }
    [[unroll]] for (uint c = 0; c < 8; ++c) total[t * 8 + c] = sums[c];  // so column c is every width-th element from c
    barrier();
    if (t >= width) return;
    float of_column = 0.0;
    for (uint i = t; i < 2048; i += width) of_column += total[i];
    atomicAdd(sum[first_bias + t], int(round(of_column * fixed_point)));
}
