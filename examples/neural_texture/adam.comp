// SPDX-License-Identifier: MIT
// One step of Adam for every parameter, and the weights and biases again in the type of the products. Gradients of
// weights come from products in f32, those of biases and features from atomics in fixed point. Both are set to 0 for
// the next step, whose products add to them (beta = 1).
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer Parameters { float parameter[]; };
layout(std430, binding = 1) buffer Moments { vec2 moment[]; };
layout(std430, binding = 2) buffer WeightGradients { float dw[]; };
layout(std430, binding = 3) buffer Sums { int sum[]; };
layout(std430, binding = 4) writeonly buffer Network { REAL network[]; };
layout(push_constant) uniform Push {
    uint count, weights, network_count, groups_x;  // parameters: weights first, then biases, then features
    float rate, correction1, correction2, unit;  // unit: of the fixed point
};

void main() {
    const uint i = (gl_WorkGroupID.y * groups_x + gl_WorkGroupID.x) * 64 + gl_LocalInvocationID.x;
    if (i >= count) return;
    float g;
    if (i < weights) {
        g = dw[i], dw[i] = 0.0;
    } else {
        const int s = sum[i - weights];
        if (s == 0 && i >= network_count) return;  // no point of the batch was near this feature
        g = float(s) * unit, sum[i - weights] = 0;
    }
    const vec2 m = mix(vec2(g, g * g), moment[i], vec2(0.9, 0.99));
    moment[i] = m;
    const float p = parameter[i] - rate * (m.x / correction1) / (sqrt(m.y / correction2) + 1e-8);
    parameter[i] = p;
    if (i < network_count) network[i] = REAL(p);
}
