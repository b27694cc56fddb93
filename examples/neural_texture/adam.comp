// SPDX-License-Identifier: MIT
// One step of Adam for every parameter, and all of them again in the type of the products. Gradients of layers come from
// products in f32, one for each slice of the batch; those of features from atomics in fixed point, and these are set to 0
// for the next step, which adds to them. Rate 0 leaves the step out. An invocation has four parameters.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
layout(local_size_x = 256) in;
struct Moments {
    vec4 first, second;
};
layout(std430, binding = 0) buffer Parameters { vec4 parameter[]; };  // layers first, then features
layout(std430, binding = 1) buffer AllMoments { Moments moments[]; };
layout(std430, binding = 2) readonly buffer LayerGradients { vec4 gradient[]; };  // by range and slice
layout(std430, binding = 3) buffer FeatureSums { ivec4 sum[]; };
layout(std430, binding = 4) writeonly buffer Network { REAL4 network[]; };
shared vec4 part[256];
layout(push_constant) uniform Push {
    uint count, slices;
    float rate, correction1, correction2, unit;
    uint first[9];  // of the weights of each layer, of the biases of each, of the features
};

// The sum over the slices of the four gradients from 4 i on, in a fixed order. Sixteen invocations, 16 apart, each add
// up every sixteenth slice; the first of them returns the sum.
vec4 gradient_of_layers(uint i) {
    const uint t = gl_LocalInvocationID.x;
    uint range = 0;
    while (4 * i >= first[range + 1]) ++range;
    const uint begin = first[range], size = first[range + 1] - begin;
    vec4 g = vec4(0);
    [[unroll]] for (uint of_all = 0; of_all < most_slices; of_all += 16) {  // so that many are on the way at once
        const uint s = of_all + t / 16;
        if (s < slices) g += gradient[(slices * begin + s * size - begin) / 4 + i];
    }
    part[t] = g;
    barrier();
    for (uint other = 1; other < 16; ++other) g += part[(t + 16 * other) % 256];
    return g;
}

void main() {
    const uint t = gl_LocalInvocationID.x, first_feature = first[8], groups_of_layers = first_feature / 64;
    const bool of_layers = gl_WorkGroupID.x < groups_of_layers;
    const uint at = (gl_WorkGroupID.x - groups_of_layers) * 256 + t;  // among the features
    const uint i = of_layers ? gl_WorkGroupID.x * 16 + t % 16 : first_feature / 4 + at;
    if (4 * i >= count) return;
    vec4 g = vec4(0);
    bvec4 moves = bvec4(true);
    if (of_layers) {
        g = gradient_of_layers(i);
        if (t >= 16) return;
    } else {
        const ivec4 s = sum[at];
        moves = notEqual(s, ivec4(0));  // otherwise no point of the batch was near this feature
        if (!any(moves) && rate != 0.0) return;
        g = vec4(s) * unit;
        sum[at] = ivec4(0);
    }
    Moments m = moments[i];
    m.first = mix(m.first, mix(g, m.first, 0.9), moves);
    m.second = mix(m.second, mix(g * g, m.second, 0.99), moves);
    moments[i] = m;
    const vec4 stepped = parameter[i] - rate * (m.first / correction1) / (sqrt(m.second / correction2) + 1e-8);
    const vec4 p = mix(parameter[i], stepped, moves);
    parameter[i] = p;
    network[i] = REAL4(p);
}
