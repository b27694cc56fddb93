// SPDX-License-Identifier: MIT
// The engine's pass before the products. It writes small integers, so that every sum is exact.
#version 450
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) writeonly buffer Data { float at[]; } data;
layout(push_constant) uniform Push { uint count, seed; } push;

void main() {
    const uint i = gl_GlobalInvocationID.x;
    if (i < push.count) data.at[i] = float(int((i * 7 + push.seed * 13) % 5) - 2);
}
