// SPDX-License-Identifier: MIT
// One step of Adam for every parameter, and all of them again in the type of the products. Gradients of weights come
// from products in f32, those of biases and features from atomics in fixed point. Both are set to 0 for the next step,
// whose products add to them (beta = 1). With rate 0 there is no step.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
layout(local_size_x = 256) in;
layout(std430, binding = 0) buffer Parameters { float parameter[]; };  // weights first, then biases, then features
layout(std430, binding = 1) buffer Moments { vec2 moment[]; };
layout(std430, binding = 2) buffer Gradients { int gradient[]; };  // of weights, as the bits of floats, and of biases
layout(std430, binding = 3) buffer Sums { int sum[]; };            // of features
layout(std430, binding = 4) writeonly buffer Network { REAL network[]; };
layout(push_constant) uniform Push {
    uint count, weights, first_feature, groups_x;
    float rate, correction1, correction2, unit;  // unit: of the fixed point
};

void main() {
    const uint i = (gl_WorkGroupID.y * groups_x + gl_WorkGroupID.x) * 256 + gl_LocalInvocationID.x;
    if (i >= count) return;
    float g;
    if (i < first_feature) {
        g = i < weights ? intBitsToFloat(gradient[i]) : float(gradient[i]) * unit;
        gradient[i] = 0;
    } else {
        const int s = sum[i - first_feature];
        if (s == 0 && rate != 0.0) return;  // no point of the batch was near this feature
        g = float(s) * unit, sum[i - first_feature] = 0;
    }
    const vec2 m = mix(vec2(g, g * g), moment[i], vec2(0.9, 0.99));
    moment[i] = m;
    const float p = parameter[i] - rate * (m.x / correction1) / (sqrt(m.y / correction2) + 1e-8);
    parameter[i] = p;
    network[i] = REAL(p);
}
